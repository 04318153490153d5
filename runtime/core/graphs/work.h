// What can be put into a node of a graph.
#pragma once

#include <driver_types.h>

#include <memory>
#include <variant>

#include "runtime/core/graphs/condition.h"
#include "runtime/core/graphs/graph_memory.h"
#include "runtime/core/streams/event.h"
#include "runtime/core/streams/work/work.h"

namespace accelerator::runtime {

class Graph;

struct EmptyWork {};

struct EventRecordWork {
  std::shared_ptr<Event> event;
};

struct EventWaitWork {
  std::shared_ptr<Event> event;
};

struct ChildGraphWork {
  std::shared_ptr<Graph> graph;
};

struct AllocationWork {
  std::shared_ptr<GraphMemory> memory;
};

struct FreeWork {
  void* memory = nullptr;
};

using Work = std::variant<
    EmptyWork,
    KernelWork,
    CopyWork,
    FillWork,
    HostWork,
    EventRecordWork,
    EventWaitWork,
    ChildGraphWork,
    AllocationWork,
    FreeWork,
    ConditionalWork>;

/// The runtime's name for this kind of work.
cudaGraphNodeType type_of(const Work& work);

/// Puts a node's work into a stream, captured or not (child graphs and those of
/// conditional nodes are not put here: an instantiated graph has taken them
/// apart), and tells who watches when it is done.
void put(Stream& stream, const Work& work, const tracing::Origin& origin);

} // namespace accelerator::runtime
