// Conditional nodes: graphs that run if, while, or as often as a value says
// that kernels set.
// Source: CUDA C++ programming guide, "Conditional Graph Nodes".
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace accelerator::runtime {

class Device;
class Graph;
class MemoryPool;

/// The graphs of one conditional node.
struct ConditionalBodies {
  std::vector<std::shared_ptr<Graph>> graphs;
  std::vector<cudaGraph_t> handles;
};

/// The value that a conditional node goes by: a word of the device's memory,
/// whose address is the handle, so that kernels can set it.
class Condition {
 public:
  /// @param initial what it is to be when the graph is launched,
  /// @param assign at each launch; else at the first.
  /// @throws Failure with cudaErrorMemoryAllocation.
  Condition(Device& device, unsigned initial, bool assign);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  Device& device() const {
    return device_;
  }
  void* address() const {
    return address_;
  }
  unsigned initial() const {
    return initial_;
  }
  /// Whether the launch that asks has to assign the initial value.
  bool to_assign();

  /// The number of the graph whose it is.
  std::uint32_t graph_id = 0;
  /// Of the node that goes by it.
  std::weak_ptr<ConditionalBodies> bodies;
  /// The instance of the graph that it is in: there is one at a time.
  std::weak_ptr<const void> instance;

 private:
  Device& device_;
  std::shared_ptr<MemoryPool> pool_;
  void* address_;
  unsigned initial_;
  bool assign_;
  bool assigned_ = false;
};

/// Makes a condition of a graph, which keeps it.
cudaGraphConditionalHandle make_condition(
    Graph& graph,
    Device& device,
    unsigned initial,
    bool assign);

/// The condition of a handle.
/// @throws Failure: cudaErrorInvalidValue.
std::shared_ptr<Condition> resolve_condition(cudaGraphConditionalHandle handle);

struct ConditionalWork {
  std::shared_ptr<Condition> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::shared_ptr<ConditionalBodies> bodies;

  /// Which body runs when the condition has that value; beyond the last: none.
  std::size_t chosen(unsigned value) const;
  bool repeats() const {
    return type == cudaGraphCondTypeWhile;
  }
};

/// The work of a node that goes by a condition, with empty bodies.
/// @throws Failure: cudaErrorInvalidValue when another node does, or the number
/// of bodies is none that the type can have.
ConditionalWork make_conditional(
    std::shared_ptr<Condition> condition,
    cudaGraphConditionalNodeType type,
    unsigned size);

} // namespace accelerator::runtime
