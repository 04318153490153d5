// What descriptors are checked for when they are finalized, and what they
// answer then without having been told.
#include <algorithm>

#include "runtime/libraries/dnn/graph/attributes.h"
#include "runtime/libraries/dnn/graph/descriptor.h"
#include "runtime/libraries/dnn/graph/plan_text.h"
#include "runtime/libraries/dnn/graph/program.h"

namespace accelerator::dnn {
namespace {

constexpr auto kDescriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;

Value child_value(std::vector<std::shared_ptr<const State>> children) {
  Value value;
  value.type = kDescriptor;
  value.count = static_cast<std::int64_t>(children.size());
  value.children = std::move(children);
  return value;
}

Value number_value(std::int64_t number) {
  return value_of<std::int64_t>(CUDNN_TYPE_INT64, {number});
}

bool is_operation(cudnnBackendDescriptorType_t kind) {
  switch (kind) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR:
      return true;
    default:
      return false;
  }
}

bool is_about_support(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
}

void finalize_tensor(State& state) {
  const Tensor tensor = tensor_of(state);
  const Layout& layout = tensor.layout;
  require_valid(
      !layout.dims.empty() && layout.dims.size() <= CUDNN_DIM_MAX,
      "a tensor has one to eight dimensions");
  require_valid(
      layout.dims.size() == layout.strides.size(),
      "a tensor has as many strides as dimensions");
  const auto is_negative = [](std::int64_t value) { return value < 0; };
  require_valid(
      std::none_of(layout.dims.begin(), layout.dims.end(), is_negative) &&
          std::none_of(
              layout.strides.begin(), layout.strides.end(), is_negative),
      "a tensor's dimensions and strides are not negative");
  require_supported(
      layout.type != CUDNN_DATA_INT8x4 && layout.type != CUDNN_DATA_UINT8x4 &&
          layout.type != CUDNN_DATA_INT8x32,
      "vectors are told by the vector count");
  const int bits = bits_of(layout.type);
  require_valid(
      tensor.alignment > 0 && tensor.alignment * 8 % std::max(8, bits) == 0,
      "a tensor's alignment is no multiple of its elements' size");
}

void finalize_convolution(State& state) {
  const auto spatial = static_cast<std::size_t>(
      state.get<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  for (const auto name :
       {CUDNN_ATTR_CONVOLUTION_DILATIONS,
        CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
        CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
        CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    require_valid(
        state.integers(name).size() == spatial,
        "a convolution's arrays have one element for each spatial dimension");
  }
}

/// An operation whose tensors do not fit is refused at once. One that this
/// library does not have is refused when an engine is asked for.
void finalize_operation(const State& state) {
  const auto alone = std::make_shared<State>(state);
  try {
    const Program program({alone});
  } catch (const Refusal& refusal) {
    if (!is_about_support(refusal.status())) {
      throw;
    }
  }
}

void finalize_graph(State& state) {
  const Value* operations = state.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  require_valid(
      std::all_of(
          operations->children.begin(),
          operations->children.end(),
          [](const auto& child) {
            return child->kind >=
                CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
                child->kind != CUDNN_BACKEND_TENSOR_DESCRIPTOR &&
                child->kind != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
          }),
      "what is no operation is in an operation graph");
  try {
    state.program = std::make_shared<const Program>(operations->children);
  } catch (const Refusal& refusal) {
    if (!is_about_support(refusal.status())) {
      throw;
    }
    state.reason = refusal.what();
  }
}

void finalize_engine(const State& state) {
  const State& graph = state.child(
      CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
      CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (graph.program == nullptr) {
    throw Refusal(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, graph.reason);
  }
  require_supported(
      state.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX) == 0,
      "there is one engine, of index 0");
}

void finalize_plan(State& state) {
  if (state.has(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)) {
    state.values[CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG] = child_value(
        {read_plan(state.text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION))});
  }
  state.child(
      CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
      CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

void finalize_pack(const State& state) {
  const auto count = [&](cudnnBackendAttributeName_t name) {
    const Value* value = state.find(name);
    return value == nullptr ? 0 : value->count;
  };
  require_valid(
      count(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) ==
          count(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS),
      "a variant pack has one pointer for each unique id");
}

std::shared_ptr<const State> configuration_of(
    const std::shared_ptr<const State>& graph) {
  auto engine = std::make_shared<State>();
  engine->kind = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  engine->values[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = child_value({graph});
  engine->values[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = number_value(0);
  engine->finalized = true;
  auto configuration = std::make_shared<State>();
  configuration->kind = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
  configuration->values[CUDNN_ATTR_ENGINECFG_ENGINE] = child_value({engine});
  configuration->finalized = true;
  return configuration;
}

} // namespace

void finalize(State& state) {
  for (const Attribute& attribute : attributes_of(state.kind)) {
    require_valid(
        attribute.need != Need::kRequired || state.has(attribute.name),
        "an attribute that is required is not set");
  }
  switch (state.kind) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      finalize_tensor(state);
      break;
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      finalize_convolution(state);
      break;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      finalize_graph(state);
      break;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      finalize_engine(state);
      break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      finalize_plan(state);
      break;
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      finalize_pack(state);
      break;
    case CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR:
    case CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR:
    case CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR:
      throw Refusal(CUDNN_STATUS_NOT_SUPPORTED, "this descriptor is read only");
    default:
      if (is_operation(state.kind)) {
        finalize_operation(state);
      }
      break;
  }
  state.finalized = true;
}

std::optional<Value> computed_value(
    const std::shared_ptr<const State>& state,
    cudnnBackendAttributeName_t name) {
  switch (name) {
    case CUDNN_ATTR_TENSOR_DATA_TYPE:
      return value_of<int>(CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT});
    case CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT:
    case CUDNN_ATTR_TENSOR_VECTOR_COUNT:
    case CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER:
      return number_value(1);
    case CUDNN_ATTR_TENSOR_IS_VIRTUAL:
    case CUDNN_ATTR_TENSOR_IS_BY_VALUE:
      return value_of<char>(CUDNN_TYPE_BOOLEAN, {0});
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return number_value(state->program != nullptr);
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
      const Value* graph = state->find(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
      return graph != nullptr && graph->children[0]->program != nullptr
          ? child_value({configuration_of(graph->children[0])})
          : child_value({});
    }
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
      return value_of<int>(
          CUDNN_TYPE_BEHAVIOR_NOTE,
          {CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API});
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return value_of<int>(CUDNN_TYPE_NUMERICAL_NOTE, {});
    case CUDNN_ATTR_ENGINE_KNOB_INFO:
    case CUDNN_ATTR_ENGINE_LAYOUT_INFO:
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
    case CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO:
      return child_value({});
    // The host computes without memory of the device.
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return number_value(0);
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
      return value_of<int>(CUDNN_TYPE_INT32, {0});
    case CUDNN_ATTR_EXECUTION_PLAN_CUDA_GRAPH_RETENTION:
      return value_of<int>(
          CUDNN_TYPE_CUDA_GRAPH_RETENTION,
          {CUDNN_CUDA_GRAPH_RETENTION_PER_GRAPH});
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION: {
      const std::string text = write_plan(state->child(
          CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
          CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      return value_of<char>(
          CUDNN_TYPE_CHAR, std::vector<char>(text.begin(), text.end()));
    }
    case CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION: {
      const std::string text = write_device();
      return value_of<char>(
          CUDNN_TYPE_CHAR, std::vector<char>(text.begin(), text.end()));
    }
    default:
      return std::nullopt;
  }
}

} // namespace accelerator::dnn
