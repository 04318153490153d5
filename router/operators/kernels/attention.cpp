// The choice, as upstream asks for it.
#include "router/operators/kernels/attention.h"

#include "router/aliasing/previous_kernel.h"
#include "router/operators/dispatch/devices.h"
#include "router/operators/dispatch/registration.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <c10/util/Exception.h>

#include <optional>

namespace torch_cuda::operators {
namespace {

using at::Tensor;

c10::OperatorHandle choice() {
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      "aten::_fused_sdp_choice", "");
}

// What chose before; it knows its own kernels. Made before anything is
// registered over it.
const aliasing::PreviousKernel& upstreams_choice() {
  static const aliasing::PreviousKernel kernel(
      choice(), c10::DispatchKey::CUDA);
  return kernel;
}

// Whether the CPU would take its fused kernel. Only in a build of PyTorch with
// fused kernels for CUDA, whose programs do not ask for second derivatives.
bool is_fused(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& mask,
    double dropout,
    bool is_causal,
    std::optional<double> scale,
    bool enable_gqa) {
  const auto& context = at::globalContext();
  if (!has_machine_code_only() || !context.userEnabledFlashSDP() ||
      !context.userEnabledMathSDP() || query.is_nested() || dropout != 0 ||
      // A GPU has no fused kernel of them, and their second derivatives.
      query.scalar_type() == at::kDouble ||
      (mask.has_value() && mask->defined()) ||
      // Of these the kernels' versions differ.
      (is_causal && query.size(-2) != key.size(-2))) {
    return false;
  }
  torch::jit::Stack stack;
  torch::jit::push(
      stack, query, key, value, mask, dropout, is_causal, scale, enable_gqa);
  choice().redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  return stack.back().toInt() ==
      static_cast<int64_t>(sdp::SDPBackend::flash_attention);
}

int64_t choose(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& mask,
    double dropout,
    bool is_causal,
    std::optional<double> scale,
    bool enable_gqa) {
  if (mixed() && serves_itself(query.device().index())) {
    torch::jit::Stack stack;
    torch::jit::push(
        stack, query, key, value, mask, dropout, is_causal, scale, enable_gqa);
    upstreams_choice()(choice(), query.key_set(), &stack);
    return stack.back().toInt();
  }
  if (is_fused(
          query, key, value, mask, dropout, is_causal, scale, enable_gqa)) {
    return static_cast<int64_t>(sdp::SDPBackend::flash_attention);
  }
  // A program that allows fused kernels only gets their numbers.
  const auto& context = at::globalContext();
  TORCH_CHECK(
      context.userEnabledMathSDP() || context.userEnabledFlashSDP() ||
          context.userEnabledMemEfficientSDP() || context.userEnabledCuDNNSDP(),
      "No viable backend for scaled_dot_product_attention was found: all of "
      "them are switched off.");
  return static_cast<int64_t>(sdp::SDPBackend::math);
}

} // namespace

void route_attention() {
  (void)upstreams_choice();
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose);
  for (const auto key :
       {c10::DispatchKey::CUDA, c10::DispatchKey::NestedTensorCUDA}) {
    register_for_all(
        choice(),
        key,
        c10::KernelFunction::makeFromUnboxedRuntimeFunction(&choose));
  }
}

} // namespace torch_cuda::operators
