// The CPU's loss, and its derivative at once, as cuDNN gives both.
#include "router/operators/kernels/cudnn/ctc_loss.h"

#include "router/operators/calls/nondeterminism.h"
#include "router/operators/dispatch/registration.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/ones_like.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IntArrayRef;

std::vector<int64_t> on_the_host(const Tensor& lengths) {
  const auto hosts = lengths.to(c10::kCPU, c10::kLong).contiguous();
  const auto* begin = hosts.const_data_ptr<int64_t>();
  return {begin, begin + hosts.numel()};
}

// torch.nn.functional.ctc_loss takes the CPU's kernel as it is. Where a program
// asks for deterministic algorithms, CUDA's kernel is refused and cuDNN's is
// not: then it matters which of the two a GPU would take.
bool fits_cudnn(const Tensor& log_probs, const Tensor& targets, int64_t blank) {
  const auto& context = at::globalContext();
  return context.deterministicAlgorithms() && context.userEnabledCuDNN() &&
      blank == 0 && targets.dim() == 1 && targets.is_contiguous() &&
      targets.scalar_type() == c10::kInt && log_probs.dim() == 3 &&
      log_probs.scalar_type() == c10::kFloat;
}

bool has_cudnns_lengths(IntArrayRef input_lengths, IntArrayRef target_lengths) {
  static constexpr int64_t kLongest = 255;
  return input_lengths.size() == target_lengths.size() &&
      std::equal(
             input_lengths.begin(),
             input_lengths.end(),
             target_lengths.begin(),
             [](int64_t input, int64_t target) {
               return target <= std::min(input, kLongest);
             });
}

bool is_chosen(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank) {
  return fits_cudnn(log_probs, targets, blank) && targets.is_cpu() &&
      std::all_of(
             input_lengths.begin(),
             input_lengths.end(),
             [&](int64_t length) { return length == log_probs.size(0); }) &&
      has_cudnns_lengths(input_lengths, target_lengths);
}

bool is_chosen_of_tensors(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    int64_t blank) {
  return fits_cudnn(log_probs, targets, blank) &&
      input_lengths.scalar_type() == c10::kInt &&
      target_lengths.scalar_type() == c10::kInt &&
      has_cudnns_lengths(
             on_the_host(input_lengths), on_the_host(target_lengths));
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
  const WithoutAlerts deterministic_on_a_gpu;
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
