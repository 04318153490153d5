// The cells, computed by the CPU's kernels in one crossing.
#include "router/operators/kernels/recurrent/recurrent.h"

#include "router/aliasing/previous_kernel.h"
#include "router/composites/recurrent.h"
#include "router/operators/calls/boxed_call.h"
#include "router/operators/dispatch/registration.h"

#include <ATen/core/Tensor.h>

#include <memory>

namespace torch_cuda::operators {
namespace {

using torch::jit::Stack;

// Upstream has no forward derivative of a cell: it is taken of what the cell is
// made of, as the CPU takes it.
class ForwardDerivatives final : public c10::OperatorKernel {
 public:
  ForwardDerivatives(const c10::OperatorHandle& op, HostKernel cell)
      : upstream_(op, c10::DispatchKey::AutogradCUDA),
        cell_(cell),
        arguments_(op.schema().arguments().size()) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      Stack* stack) {
    for (const auto& argument : torch::jit::last(*stack, arguments_)) {
      if (argument.isTensor() && argument.toTensor().defined() &&
          argument.toTensor()._fw_grad(/*level=*/0).defined()) {
        cell_(stack);
        return;
      }
    }
    upstream_(op, keys, stack);
  }

 private:
  aliasing::PreviousKernel upstream_;
  HostKernel cell_;
  size_t arguments_;
};

class CellKernel final : public c10::OperatorKernel {
 public:
  CellKernel(const c10::OperatorHandle& op, HostKernel cell)
      : call_(op, c10::DispatchKey::CPU, cell) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    call_(op, stack);
  }

 private:
  HostCall call_;
};

void serve(const char* name, HostKernel kernel) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  register_kernel(
      op,
      c10::DispatchKey::CUDA,
      boxed(std::make_unique<CellKernel>(op, kernel)));
}

void serve_forward_derivatives(const char* name, HostKernel cell) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  register_kernel(
      op,
      c10::DispatchKey::AutogradCUDA,
      boxed(std::make_unique<ForwardDerivatives>(op, cell)));
}

} // namespace

void route_recurrent() {
  serve("aten::_thnn_fused_lstm_cell", &composites::lstm_cell);
  serve(
      "aten::_thnn_fused_lstm_cell_backward_impl",
      &composites::lstm_cell_backward);
  serve("aten::_thnn_fused_gru_cell", &composites::gru_cell);
  serve("aten::_thnn_fused_gru_cell_backward", &composites::gru_cell_backward);
  serve_forward_derivatives(
      "aten::_thnn_fused_lstm_cell", &composites::lstm_cell);
  serve_forward_derivatives(
      "aten::_thnn_fused_gru_cell", &composites::gru_cell);
}

} // namespace torch_cuda::operators
