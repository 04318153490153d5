// Dropout with the device's generator: what it drops is what the CPU drops with
// the same numbers, rounded as the CPU rounds.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace torch_cuda::composites {

/// The result and what was kept. Throws for probabilities that are none, and
/// for numbers that are no floating point numbers.
std::tuple<at::Tensor, at::Tensor> native_dropout(
    const at::Tensor& input,
    double p,
    std::optional<bool> train);

/// @param scale the inverse of what is kept, as a rule.
at::Tensor native_dropout_backward(
    const at::Tensor& gradient,
    const at::Tensor& mask,
    double scale);

} // namespace torch_cuda::composites
