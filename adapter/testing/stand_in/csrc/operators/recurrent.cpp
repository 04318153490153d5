// The cells, of operators of the stand-in.
#include "adapter/testing/stand_in/csrc/operators/recurrent.h"

#include "router/composites/recurrent.h"

namespace torch_stand_in {
namespace {

template <void (*cell)(torch::jit::Stack*)>
void boxed(
    const c10::OperatorHandle& /*op*/,
    c10::DispatchKeySet /*keys*/,
    torch::jit::Stack* stack) {
  cell(stack);
}

template <void (*cell)(torch::jit::Stack*)>
void serve(torch::Library& aten, const char* name) {
  aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&boxed<cell>>());
}

} // namespace

void register_recurrent(torch::Library& aten) {
  namespace composites = torch_cuda::composites;
  serve<&composites::lstm_cell>(aten, "_thnn_fused_lstm_cell");
  serve<&composites::lstm_cell_backward>(
      aten, "_thnn_fused_lstm_cell_backward_impl");
  serve<&composites::gru_cell>(aten, "_thnn_fused_gru_cell");
  serve<&composites::gru_cell_backward>(aten, "_thnn_fused_gru_cell_backward");
}

} // namespace torch_stand_in
