// What is made of a graph to be launched.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/graphs/instances/plan.h"
#include "runtime/core/graphs/instances/update.h"
#include "runtime/core/graphs/work.h"
#include "runtime/core/streams/event.h"
#include "runtime/core/streams/stream.h"

namespace accelerator::runtime {

/// A graph that can be launched. Launches of one do not overlap.
class GraphExec {
 public:
  /// @throws Failure: cudaErrorInvalidValue for what cannot be instantiated,
  /// and as Graph::claim_memory().
  GraphExec(const Graph& graph, unsigned long long flags);

  /// Counts up over graphs and their instances.
  std::uint32_t id() const {
    return id_;
  }
  unsigned long long flags() const {
    return flags_;
  }
  /// Puts a run of the graph into a stream; nothing of it, when a kernel has no
  /// code, or when memory that an earlier run allocated is not freed.
  /// @throws Failure as Function::to_launch() and note_launch().
  void launch(Stream& stream);
  /// A graph that does what the next launch would do.
  /// @throws Failure: cudaErrorNotSupported for conditional nodes, and for such
  /// as allocate or free memory.
  std::shared_ptr<Graph> to_graph();
  /// Changes the work of one node; only launches that follow see it.
  /// @throws Failure: cudaErrorInvalidValue when the node is not in it, is of
  /// another type, or may not be changed so (CUDA runtime API,
  /// cudaGraphExec...NodeSetParams).
  void set_work(const Node& node, Work work);
  /// The work of one node.
  const Work& work(const Node& node) const;
  bool enabled(const Node& node) const;
  void set_enabled(const Node& node, bool enabled);
  /// Takes over the work of a graph of the same shape.
  /// @returns what stands against it: then nothing has changed.
  UpdateProblem update(const Graph& graph);

 private:
  Step& find(const Node& node) const;

  std::uint32_t id_;
  unsigned long long flags_;
  std::mutex mutex_;
  std::shared_ptr<std::vector<Step>> steps_;
  std::shared_ptr<const void> claim_; // to the conditions and the memory
  std::shared_ptr<Event> last_run_; // where its end is marked; null: none
};

} // namespace accelerator::runtime
