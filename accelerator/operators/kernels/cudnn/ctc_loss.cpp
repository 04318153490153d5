// The CPU's loss, and its derivative at once, as cuDNN gives both.
#include "accelerator/operators/kernels/cudnn/ctc_loss.h"

#include "accelerator/operators/dispatch/registration.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/ones_like.h>

#include <tuple>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IntArrayRef;

// torch.nn.functional.ctc_loss takes the CPU's kernel as it is.
bool is_chosen(
    const Tensor& /*log_probs*/,
    const Tensor& /*targets*/,
    IntArrayRef /*input_lengths*/,
    IntArrayRef /*target_lengths*/,
    int64_t /*blank*/) {
  return false;
}

bool is_chosen_of_tensors(
    const Tensor& /*log_probs*/,
    const Tensor& /*targets*/,
    const Tensor& /*input_lengths*/,
    const Tensor& /*target_lengths*/,
    int64_t /*blank*/) {
  return false;
}

// The loss of each sequence, and its derivative by log_probs.
std::tuple<Tensor, Tensor> ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    bool /*deterministic*/,
    bool zero_infinity) {
  // cuDNN takes them on the host.
  const auto near = targets.to(log_probs.device());
  auto [loss, log_alpha] = at::_ctc_loss(
      log_probs, near, input_lengths, target_lengths, blank, zero_infinity);
  auto gradient = at::_ctc_loss_backward(
      at::ones_like(loss),
      log_probs,
      near,
      input_lengths,
      target_lengths,
      loss,
      log_alpha,
      blank,
      zero_infinity);
  if (zero_infinity) {
    loss.masked_fill_(loss.isinf(), 0);
  }
  return {loss, gradient};
}

std::vector<int64_t> on_the_host(const Tensor& lengths) {
  const auto hosts = lengths.to(c10::kCPU, c10::kLong).contiguous();
  const auto* begin = hosts.const_data_ptr<int64_t>();
  return {begin, begin + hosts.numel()};
}

std::tuple<Tensor, Tensor> ctc_loss_of_tensors(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank,
    bool deterministic,
    bool zero_infinity) {
  return ctc_loss(
      log_probs,
      targets,
      on_the_host(input_lengths),
      on_the_host(target_lengths),
      blank,
      deterministic,
      zero_infinity);
}

} // namespace

void route_ctc_loss() {
  for (const char* name :
       {"aten::_use_cudnn_ctc_loss", "aten::_use_miopen_ctc_loss"}) {
    register_function(name, "", &is_chosen);
    register_function(name, "Tensor", &is_chosen_of_tensors);
  }
  register_function("aten::_cudnn_ctc_loss", "", &ctc_loss);
  register_function("aten::_cudnn_ctc_loss", "Tensor", &ctc_loss_of_tensors);
}

} // namespace torch_cuda::operators
