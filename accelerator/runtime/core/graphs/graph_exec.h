// What is made of a graph to be launched.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "accelerator/runtime/core/graphs/graph.h"
#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/core/streams/event.h"
#include "accelerator/runtime/core/streams/stream.h"

namespace accelerator::runtime {

/// A graph that can be launched. Launches of one do not overlap.
class GraphExec {
 public:
  /// One node as it is run.
  struct Step {
    Work work;
    Device* device;
    const Node* node; // where it came from; only compared
    std::uint64_t node_id = 0; // for profilers, as the next
    std::uint32_t graph_id = 0;
    bool enabled = true;
    std::vector<Step> children; // of a child graph
  };

  GraphExec(const Graph& graph, unsigned long long flags);

  unsigned long long flags() const {
    return flags_;
  }
  /// Puts a run of the graph into a stream.
  void launch(Stream& stream);
  /// Changes the work of one node; only launches that follow see it.
  /// @throws Failure: cudaErrorInvalidValue when the node is not in it or is of
  /// another type.
  void set_work(const Node& node, Work work);
  /// The work of one node.
  const Work& work(const Node& node) const;
  bool enabled(const Node& node) const;
  void set_enabled(const Node& node, bool enabled);
  /// Takes over the work of a graph of the same shape.
  cudaGraphExecUpdateResult update(const Graph& graph, const Node** differing);

 private:
  const Step& find(const Node& node) const;

  unsigned long long flags_;
  std::mutex mutex_;
  std::shared_ptr<std::vector<Step>> steps_;
  std::vector<std::vector<std::size_t>> shape_; // dependencies by position
  std::shared_ptr<Event> last_run_; // where its end is marked; null: none
};

} // namespace accelerator::runtime
