#include "runtime/core/graphs/work.h"

#include <type_traits>
#include <utility>

#include "runtime/core/memory/memory_pool.h"
#include "runtime/core/streams/stream.h"

namespace accelerator::runtime {
namespace {

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
      cudaGraphNodeTypeConditional,
  };
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

void put(Stream& stream, const Work& work, const tracing::Origin& origin) {
  std::visit(
      [&](const auto& parts) {
        using Parts = std::decay_t<decltype(parts)>;
        if constexpr (std::is_constructible_v<StreamWork, const Parts&>) {
          put(stream, parts, origin);
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

} // namespace accelerator::runtime
