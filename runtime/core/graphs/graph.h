// Graphs: work with its dependencies.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/graphs/user_object.h"
#include "runtime/core/graphs/work.h"

namespace accelerator::runtime {

class Graph;

/// A node; its address is the handle. Lives as long as its graph.
class Node {
 public:
  Node(Graph& graph, Device& device, Work work);

  Graph& graph() const {
    return graph_;
  }
  Device& device() const {
    return device_;
  }
  Work& work() {
    return work_;
  }
  const Work& work() const {
    return work_;
  }
  const std::vector<Node*>& dependencies() const {
    return dependencies_;
  }
  /// What the edge from a dependency says: zeros for an ordinary one.
  cudaGraphEdgeData edge_from(const Node& dependency) const;
  /// Counts up over all nodes of the process.
  std::uint64_t id() const {
    return id_;
  }
  /// Counts up over the nodes that were added to the graph.
  unsigned local_id() const {
    return local_id_;
  }

 private:
  friend class Graph;

  Graph& graph_;
  Device& device_;
  Work work_;
  std::uint64_t id_;
  unsigned local_id_ = 0;
  std::vector<Node*> dependencies_;
  std::map<const Node*, cudaGraphEdgeData> edges_; // that are not ordinary
  std::uint64_t cloned_from_ = 0; // the number of a node
  /// Kernel parameters as cudaGraphKernelNodeGetParams points to them.
  std::vector<void*> parameter_pointers_;

 public:
  /// Points to each of a kernel node's parameters, valid until they change.
  void** parameter_pointers();
};

/// Not thread-safe, like CUDA's graphs.
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A number that no graph has, and no instance.
  static std::uint32_t next_id();
  /// Counts up over all graphs of the process, and what is instantiated of
  /// them.
  std::uint32_t id() const {
    return id_;
  }
  /// Adds a node behind others of this graph.
  /// @throws Failure: cudaErrorInvalidValue for dependencies of another graph,
  /// for another graph's condition, and for a child that this graph is below.
  Node& add(Work work, Device& device, std::vector<Node*> dependencies);
  /// @throws Failure: cudaErrorNotSupported, as remove_dependency() too, when
  /// it allocates or frees memory.
  void remove(Node& node);
  void add_dependency(Node& from, Node& to);
  void remove_dependency(Node& from, Node& to);
  /// Says of an edge what kind it is. A kernel that may start early because of
  /// it starts when the one before it has ended, as it may, too.
  /// @throws Failure: cudaErrorInvalidValue for data that no edge between such
  /// nodes has (CUDA runtime API, cudaGraphEdgeData).
  void describe_dependency(
      const Node& from,
      Node& to,
      const cudaGraphEdgeData& data);
  bool owns(const Node* node) const;

  /// In the order in which they were added.
  const std::vector<std::unique_ptr<Node>>& nodes() const {
    return nodes_;
  }
  std::vector<Node*> roots() const;
  /// Pairs (from, to).
  std::vector<std::pair<Node*, Node*>> edges() const;
  std::vector<Node*> dependents(const Node& node) const;
  /// All nodes, each after those it depends on; otherwise as they were added.
  /// @throws Failure: cudaErrorInvalidValue for a circle.
  std::vector<Node*> in_order() const;

  /// @throws Failure: cudaErrorNotSupported when it, or a graph below it, has
  /// conditional nodes, or nodes that allocate or free memory.
  std::shared_ptr<Graph> clone() const;
  /// To be called before a graph becomes a child that is not copied.
  /// @throws Failure: cudaErrorNotSupported when it has conditional nodes.
  void require_no_conditional_nodes() const;
  /// Enters an instance of the graph, of which there is one at a time where it,
  /// or a graph below it, has nodes that allocate or free memory (CUDA driver
  /// API, cuGraphAddMemAllocNode).
  /// @param instance lives as long as the instance.
  /// @throws Failure: cudaErrorNotSupported while there is another.
  void claim_memory(const std::shared_ptr<const void>& instance) const;
  /// The copy of a node in a graph that clone() made; null when there is none.
  Node* find_clone(const Node& original) const;
  /// The node of that number, in this graph or in one below a node; null when
  /// there is none.
  Node* find(std::uint64_t id) const;

  void retain(std::shared_ptr<UserObject> object, unsigned count);
  /// @throws Failure: cudaErrorInvalidValue when the graph holds fewer.
  void release(const UserObject& object, unsigned count);
  /// The objects that it keeps alive, those of graphs below nodes among them;
  /// they live as long as what is returned.
  std::vector<HeldObject> hold_objects() const;

  /// Keeps what its nodes need as long as there is the graph.
  void keep(std::shared_ptr<const void> needed);
  void keep(std::shared_ptr<Condition> condition);
  /// @throws Failure: cudaErrorInvalidValue when no node goes by one of its
  /// conditions.
  void require_conditions_used() const;

  /// The graph in the language of Graphviz.
  std::string dot() const;

 private:
  std::uint32_t id_;
  bool has_memory_nodes() const;
  bool holds(const Graph& other) const; // or is it
  void require_no_memory_nodes(const char* attempt) const;

  const Graph* above_ = nullptr; // of the node whose condition this runs under
  unsigned added_ = 0; // nodes so far
  std::vector<std::unique_ptr<Node>> nodes_;
  mutable std::weak_ptr<const void> memory_instance_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<std::shared_ptr<Condition>> conditions_;
  std::vector<std::pair<std::shared_ptr<UserObject>, unsigned>> objects_;
};

/// Whether an edge's data says no more than that one node comes after another.
bool is_ordinary(const cudaGraphEdgeData& data);

/// @throws Failure: cudaErrorInvalidValue for data that no edge between nodes
/// with such work has.
void require_edge(
    const cudaGraphEdgeData& data,
    const Work& from,
    const Work& to);

/// Those that a node's work consists of: a child graph, or the graphs of a
/// conditional node.
std::vector<std::shared_ptr<Graph>> graphs_below(const Work& work);

/// Makes the handles invalid that were given out of those, whose node ends.
void end_handles(const Work& work);

/// A node handle that lives.
/// @throws Failure: cudaErrorInvalidValue.
Node& resolve_node(cudaGraphNode_t handle);

} // namespace accelerator::runtime
