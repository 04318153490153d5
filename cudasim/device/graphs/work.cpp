#include "cudasim/device/graphs/work.h"

#include <type_traits>
#include <utility>

#include "cudasim/device/graphs/work_record.h"
#include "cudasim/device/machine/device.h"
#include "cudasim/device/memory/memory_pool.h"

namespace cudasim::device {
namespace {

Status run(Device& device, const Work& work) {
  return std::visit(
      [&](const auto& parts) -> Status {
        using Parts = std::decay_t<decltype(parts)>;
        if constexpr (std::is_same_v<Parts, KernelWork>) {
          return run_kernel(device, parts);
        } else if constexpr (std::is_same_v<Parts, CopyWork>) {
          run_copy(parts);
        } else if constexpr (std::is_same_v<Parts, FillWork>) {
          run_fill(parts);
        } else if constexpr (std::is_same_v<Parts, HostWork>) {
          parts.function(parts.data);
        } else if constexpr (std::is_same_v<Parts, EventRecordWork>) {
          parts.event->record_now();
        } else if constexpr (std::is_same_v<Parts, EventWaitWork>) {
          parts.event->wait();
        }
        return cudaSuccess;
      },
      work);
}

} // namespace

GraphMemory::GraphMemory(std::shared_ptr<MemoryPool> from, std::size_t size)
    : pool(std::move(from)), bytes(size), memory(pool->allocate(size)) {}

GraphMemory::~GraphMemory() {
  try {
    pool->release(memory);
  } catch (const Failure&) {
    // cudaFree has taken it already.
  }
}

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

Status perform(
    Device& device,
    const Work& work,
    const tracing::Origin& origin) {
  if (origin.observer == nullptr || !is_recorded(work)) {
    return run(device, work);
  }
  const std::uint64_t start = origin.observer->now();
  const Status status = run(device, work);
  const std::uint64_t end = origin.observer->now();
  origin.observer->work(record_of(device, work, origin, start, end));
  return status;
}

} // namespace cudasim::device
