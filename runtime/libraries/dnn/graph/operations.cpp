#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {

void add_operation(Builder& builder, const State& operation) {
  for (const auto add :
       {add_convolution,
        add_elementwise,
        add_product,
        add_normalization,
        add_resampling,
        add_movement,
        add_random,
        add_attention_part}) {
    if (add(builder, operation)) {
      return;
    }
  }
  throw Refusal(
      CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
      "operations of kind " + std::to_string(operation.kind) +
          " are not supported by this CUDA runtime");
}

} // namespace accelerator::dnn
