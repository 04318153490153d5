#include "accelerator/runtime/core/graphs/work.h"

#include <type_traits>
#include <utility>

#include "accelerator/runtime/core/backends/api_status.h"
#include "accelerator/runtime/core/graphs/transfer.h"
#include "accelerator/runtime/core/graphs/work_record.h"
#include "accelerator/runtime/core/machine/device.h"
#include "accelerator/runtime/core/memory/memory_pool.h"
#include "accelerator/runtime/core/streams/stream.h"

namespace accelerator::runtime {
namespace {

void put_kernel(Stream& stream, const KernelWork& work) {
  accel_launch launch{};
  launch.struct_size = sizeof(launch);
  launch.kernel = work.function->to_launch(stream.device()).native;
  launch.grid[0] = work.grid.x;
  launch.grid[1] = work.grid.y;
  launch.grid[2] = work.grid.z;
  launch.block[0] = work.block.x;
  launch.block[1] = work.block.y;
  launch.block[2] = work.block.z;
  launch.shared_bytes = work.shared_bytes;
  launch.parameters = work.parameters.data();
  launch.cooperative = work.cooperative ? 1 : 0;
  stream.give([&](accel_stream native) {
    return stream.api().launch(native, &launch);
  });
}

void put_host(Stream& stream, const HostWork& work) {
  if (work.submit != nullptr && stream.device().can(ACCEL_CAP_SUBMIT)) {
    stream.give([&](accel_stream native) {
      return stream.api().stream_submit(native, work.submit, work.data);
    });
    return;
  }
  stream.enqueue([work] {
    if (work.submit != nullptr) {
      const accel_status status = work.submit(nullptr, work.data);
      return status == ACCEL_OK ? cudaSuccess : status_of(status);
    }
    work.function(work.data);
    return cudaSuccess;
  });
}

void put_allocation(Stream& stream, const AllocationWork& work) {
  stream.enqueue([memory = work.memory] {
    memory->allocate();
    return cudaSuccess;
  });
}

void put_free(Stream& stream, const FreeWork& work) {
  stream.enqueue([memory = work.memory] {
    if (!free_graph_memory(memory)) {
      // Another graph's, which is no more.
      if (const auto pool = pool_of(memory)) {
        pool->release(memory);
      }
    }
    return cudaSuccess;
  });
}

void put_work(Stream& stream, const Work& work) {
  std::visit(
      [&](const auto& parts) {
        using Parts = std::decay_t<decltype(parts)>;
        if constexpr (std::is_same_v<Parts, KernelWork>) {
          put_kernel(stream, parts);
        } else if constexpr (std::is_same_v<Parts, CopyWork>) {
          put_copy(stream, parts);
        } else if constexpr (std::is_same_v<Parts, FillWork>) {
          put_fill(stream, parts);
        } else if constexpr (std::is_same_v<Parts, HostWork>) {
          put_host(stream, parts);
        } else if constexpr (std::is_same_v<Parts, EventRecordWork>) {
          parts.event->record(stream);
        } else if constexpr (std::is_same_v<Parts, EventWaitWork>) {
          parts.event->make_wait(stream);
        } else if constexpr (std::is_same_v<Parts, AllocationWork>) {
          put_allocation(stream, parts);
        } else if constexpr (std::is_same_v<Parts, FreeWork>) {
          put_free(stream, parts);
        }
      },
      work);
}

} // namespace

cudaGraphNodeType type_of(const Work& work) {
  constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeEmpty,
      cudaGraphNodeTypeKernel,
      cudaGraphNodeTypeMemcpy,
      cudaGraphNodeTypeMemset,
      cudaGraphNodeTypeHost,
      cudaGraphNodeTypeEventRecord,
      cudaGraphNodeTypeWaitEvent,
      cudaGraphNodeTypeGraph,
      cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree,
  };
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

void put(Stream& stream, const Work& work, const tracing::Origin& origin) {
  if (origin.observer == nullptr || !is_recorded(work)) {
    put_work(stream, work);
    return;
  }
  // 0: the device was at fault, and the work was not done.
  auto start = std::make_shared<std::uint64_t>(0);
  stream.enqueue([start, observer = origin.observer] {
    *start = observer->now();
    return cudaSuccess;
  });
  put_work(stream, work);
  stream.enqueue(
      [start, work, origin, &device = stream.device()] {
        if (*start != 0) {
          origin.observer->work(
              record_of(device, work, origin, *start, origin.observer->now()));
        }
        return cudaSuccess;
      },
      true);
}

} // namespace accelerator::runtime
