// Execution of the graph API's plans.
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/libraries/dnn/context.h"
#include "runtime/libraries/dnn/graph/descriptor.h"
#include "runtime/libraries/dnn/graph/program.h"
#include "runtime/libraries/dnn/submit.h"

namespace accelerator::dnn {
namespace {

const State& finalized_state(
    cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptorType_t kind) {
  require_pointers(descriptor);
  const State& state = *static_cast<Descriptor*>(descriptor)->state;
  require(
      state.kind == kind,
      CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
      "the descriptor is of another kind");
  require(
      state.finalized,
      CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
      "the descriptor is not finalized");
  return state;
}

const std::shared_ptr<const Program>& program_of(const State& plan) {
  return plan
      .child(
          CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
          CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      .child(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR)
      .child(
          CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
          CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
      .program;
}

Pointers pointers_of(const State& pack) {
  Pointers pointers;
  const Value* addresses = pack.find(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const Dims uids = pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  for (std::size_t i = 0; i < uids.size(); ++i) {
    void* pointer = nullptr;
    std::memcpy(
        &pointer, addresses->bytes.data() + i * sizeof(void*), sizeof(void*));
    pointers[uids[i]] = pointer;
  }
  return pointers;
}

/// Values that a call was given, which are kept until they are used.
using Copies = std::vector<std::vector<unsigned char>>;

/// Puts a plan into a stream.
void execute(
    const char* function,
    cudaStream_t stream,
    const State& plan,
    const State& pack) {
  const std::shared_ptr<const Program> program = program_of(plan);
  Pointers pointers = pointers_of(pack);
  auto copies = std::make_shared<Copies>();
  std::vector<Operand> operands;
  for (const Tensor* tensor : program->real_tensors()) {
    if (!tensor->constant.empty()) {
      copies->push_back(tensor->constant);
      pointers[tensor->uid] = copies->back().data();
      continue;
    }
    const auto found = pointers.find(tensor->uid);
    require_valid(
        found != pointers.end(), "a tensor is not in the variant pack");
    require(
        found->second != nullptr || tensor->layout.span() == 0,
        CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
        "a tensor's pointer is null");
    if (tensor->is_by_value) {
      const auto* bytes = static_cast<const unsigned char*>(found->second);
      copies->emplace_back(bytes, bytes + tensor->layout.bytes());
      found->second = copies->back().data();
      continue;
    }
    require(
        reinterpret_cast<std::uintptr_t>(found->second) %
                static_cast<std::uintptr_t>(tensor->alignment) ==
            0,
        CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
        "a tensor's pointer is not aligned as its descriptor says");
    Layout layout = tensor->layout;
    if (tensor->ragged >= 0) {
      // How much there is of it, its offsets say when the work runs.
      for (std::int64_t& size : layout.dims) {
        size = 1;
      }
    }
    operands.push_back(
        {layout, found->second, !program->is_output(tensor->uid)});
  }
  submit(
      function,
      stream,
      std::move(operands),
      [program, pointers = std::move(pointers), copies] {
        program->run(pointers);
      });
}

void require_recorded(cudaError_t error) {
  require(
      error == cudaSuccess,
      CUDNN_STATUS_EXECUTION_FAILED_CUDART,
      cudaGetErrorString(error));
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  require_recorded(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) {
    require_recorded(cudaGraphGetNodes(graph, nodes.data(), &count));
  }
  return nodes;
}

/// Makes a node of a graph of what a plan would put into a stream.
void record(const State& plan, const State& pack, cudaGraph_t graph) {
  cudaStream_t stream = nullptr;
  require_recorded(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const std::unique_ptr<CUstream_st, decltype(&cudaStreamDestroy)> owner(
      stream, cudaStreamDestroy);
  require_recorded(cudaStreamBeginCaptureToGraph(
      stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  const auto end = [stream] {
    cudaGraph_t made = nullptr;
    return cudaStreamEndCapture(stream, &made);
  };
  try {
    execute("cudnnBackendPopulateCudaGraph", stream, plan, pack);
  } catch (...) {
    end();
    throw;
  }
  require_recorded(end());
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnBackendExecute(
    cudnnHandle_t handle,
    cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack) {
  return guarded(__func__, [&] {
    require_pointers(handle);
    execute(
        "cudnnBackendExecute",
        handle->stream,
        finalized_state(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
        finalized_state(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  });
}

cudnnStatus_t cudnnBackendPopulateCudaGraph(
    cudnnHandle_t handle,
    cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack,
    cudaGraph_t graph) {
  return guarded(__func__, [&] {
    require_pointers(handle, graph);
    require_valid(nodes_of(graph).empty(), "the graph is not empty");
    record(
        finalized_state(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
        finalized_state(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR),
        graph);
  });
}

cudnnStatus_t cudnnBackendUpdateCudaGraph(
    cudnnHandle_t handle,
    cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack,
    cudaGraph_t graph) {
  return guarded(__func__, [&] {
    require_pointers(handle, graph);
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    require(
        nodes.size() == 1 &&
            cudaGraphNodeGetType(nodes[0], &type) == cudaSuccess &&
            type == cudaGraphNodeTypeHost,
        CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH,
        "the graph is none that cudnnBackendPopulateCudaGraph made");
    cudaGraph_t another = nullptr;
    require_recorded(cudaGraphCreate(&another, 0));
    const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> owner(
        another, cudaGraphDestroy);
    record(
        finalized_state(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
        finalized_state(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR),
        another);
    cudaHostNodeParams parameters{};
    require_recorded(
        cudaGraphHostNodeGetParams(nodes_of(another).at(0), &parameters));
    require_recorded(cudaGraphHostNodeSetParams(nodes[0], &parameters));
  });
}

cudnnStatus_t cudnnGetExecutionPlanWorkspaceSize(
    cudnnHandle_t handle,
    cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_pointers(handle, size);
    finalized_state(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    finalized_state(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    *size = 0;
  });
}

} // extern "C"
