// Dependencies of a graph's nodes. Each function has a form with edge data,
// which only kernels that overlap need: there is none here, so it is refused.
// CUDA 12 has the forms without edge data besides.
// Source: CUDA runtime API, graph management.
#include <algorithm>
#include <vector>

#include "accelerator/runtime/core/operations/graph_handles.h"
#include "accelerator/runtime/core/operations/graphs.h"
#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/graph_edges.h"
#include "accelerator/runtime/cudart/versions.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::cudart;

namespace {

// @param places how many there are for the edges that are handed out.
void store_ordinary(cudaGraphEdgeData* data, std::size_t places) {
  if (data != nullptr) {
    std::fill_n(data, places, cudaGraphEdgeData{});
  }
}

void change_edges(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    std::size_t count,
    void (Graph::*change)(Node& from, Node& to)) {
  const auto target = resolve_graph(graph);
  const auto before = nodes_of(from, count);
  const auto after = nodes_of(to, count);
  require_ordinary(data, count);
  for (std::size_t i = 0; i < count; ++i) {
    ((*target).*change)(*before[i], *after[i]);
  }
}

void edges(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    cudaGraphEdgeData* data,
    std::size_t* count) {
  require(count != nullptr && (from == nullptr) == (to == nullptr));
  require(data == nullptr || from != nullptr);
  std::vector<Node*> before;
  std::vector<Node*> after;
  for (const auto& [first, second] : resolve_graph(graph)->edges()) {
    before.push_back(first);
    after.push_back(second);
  }
  std::size_t again = *count;
  store_ordinary(data, *count);
  hand_out(before, from, count);
  hand_out(after, to, &again);
}

void neighbours(
    const std::vector<Node*>& nodes,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    std::size_t* count) {
  require(count != nullptr && (data == nullptr || list != nullptr));
  store_ordinary(data, *count);
  hand_out(nodes, list, count);
}

void dependencies(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    std::size_t* count) {
  neighbours(resolve_node(node).dependencies(), list, data, count);
}

void dependents(
    cudaGraphNode_t handle,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    std::size_t* count) {
  const Node& node = resolve_node(handle);
  neighbours(node.graph().dependents(node), list, data, count);
}

} // namespace

extern "C" {

cudaError_t ACCEL_SECOND(cudaGraphAddDependencies)(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    size_t count) {
  return call([&] {
    change_edges(graph, from, to, data, count, &Graph::add_dependency);
  });
}

cudaError_t ACCEL_SECOND(cudaGraphRemoveDependencies)(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    size_t count) {
  return call([&] {
    change_edges(graph, from, to, data, count, &Graph::remove_dependency);
  });
}

cudaError_t ACCEL_SECOND(cudaGraphGetEdges)(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    cudaGraphEdgeData* data,
    size_t* count) {
  return call([&] { edges(graph, from, to, data, count); });
}

cudaError_t ACCEL_SECOND(cudaGraphNodeGetDependencies)(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count) {
  return call([&] { dependencies(node, list, data, count); });
}

cudaError_t ACCEL_SECOND(cudaGraphNodeGetDependentNodes)(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count) {
  return call([&] { dependents(node, list, data, count); });
}

#if CUDART_VERSION < 13000
cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call([&] {
    change_edges(graph, from, to, nullptr, count, &Graph::add_dependency);
  });
}

cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call([&] {
    change_edges(graph, from, to, nullptr, count, &Graph::remove_dependency);
  });
}

cudaError_t cudaGraphGetEdges(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    size_t* count) {
  return call([&] { edges(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] { dependencies(node, list, nullptr, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] { dependents(node, list, nullptr, count); });
}
#endif

} // extern "C"
