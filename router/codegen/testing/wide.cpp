// Kernels of wide.yaml: made of PyTorch's own operators, on the CPU's tensors
// over the same memory.
#include "wide/operators.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace wide {
namespace {

// A device of the host's memory: its tensors as the CPU's, once all is done.
at::Tensor host(const at::Tensor& tensor) {
  return tensor.cpu();
}

} // namespace

void structured_add_out::impl(
    const at::Tensor& self,
    const at::Tensor& other,
    const at::Scalar& alpha,
    const at::Tensor& out) {
  out.copy_(at::add(host(self), host(other), alpha));
}

void structured_topk::impl(
    const at::Tensor& self,
    int64_t k,
    int64_t dim,
    bool largest,
    bool sorted,
    const at::Tensor& values,
    const at::Tensor& indices) {
  const auto [top, places] = at::topk(host(self), k, dim, largest, sorted);
  values.copy_(top);
  indices.copy_(places);
}

void structured_cat_out::impl(
    const at::ITensorListRef& tensors,
    int64_t dim,
    int64_t /*valid*/,
    bool /*all_contiguous*/,
    bool /*all_same_dtype*/,
    bool /*all_same_sizes_and_stride*/,
    at::MemoryFormat /*memory_format*/,
    const at::Tensor& out) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& tensor : tensors) {
    parts.push_back(host(tensor));
  }
  out.copy_(at::cat(parts, dim));
}

void foreach_add_scalar_(at::TensorList self, const at::Scalar& scalar) {
  for (const at::Tensor& tensor : self) {
    tensor.copy_(host(tensor).add(scalar));
  }
}

std::tuple<at::Tensor, at::Tensor> var_mean(
    const at::Tensor& self,
    at::OptionalIntArrayRef dim,
    const std::optional<at::Scalar>& correction,
    bool keepdim) {
  const auto [var, mean] = at::var_mean(host(self), dim, correction, keepdim);
  return {var.to(self.device()), mean.to(self.device())};
}

at::Tensor& eye_out(int64_t n, at::Tensor& out) {
  out.resize_({n, n});
  out.copy_(at::eye(n, out.options().device(at::kCPU)));
  return out;
}

at::Tensor everything(
    const at::Tensor& self,
    const std::optional<at::Tensor>& weight,
    at::IntArrayRef sizes,
    at::ArrayRef<double> factors,
    const at::Scalar& scalar,
    c10::string_view mode,
    bool flag,
    std::optional<int64_t> limit,
    std::optional<at::ScalarType> dtype) {
  at::Tensor result = host(self) * scalar * factors[0] * sizes[0] *
      (flag ? 1 : 2) * limit.value_or(1);
  if (weight) {
    result = result +
        (mode == "sum" ? host(*weight) : host(*weight) / result.numel());
  }
  return result.to(self.device(), dtype.value_or(self.scalar_type()));
}

at::Tensor everything_meta(
    const at::Tensor& self,
    const std::optional<at::Tensor>& /*weight*/,
    at::IntArrayRef /*sizes*/,
    at::ArrayRef<double> /*factors*/,
    const at::Scalar& /*scalar*/,
    c10::string_view /*mode*/,
    bool /*flag*/,
    std::optional<int64_t> /*limit*/,
    std::optional<at::ScalarType> dtype) {
  return at::empty_like(
      self, self.options().dtype(dtype.value_or(self.scalar_type())));
}

at::Tensor product(const at::Tensor& self, const at::Tensor& other) {
  return self * other;
}

at::Tensor& fill_(at::Tensor& self, double value) {
  self.copy_(at::full_like(host(self), value));
  return self;
}

std::tuple<at::Tensor, at::Tensor> pair_two(const at::Tensor& self) {
  return {self + 1, self + 2};
}

} // namespace wide
