// Kernels of the device "acme", one for each kernel that operators.yaml names.
//
// A kernel makes its result and puts the computation into the current stream.
// Here that is a loop on the host. A device with ACCEL_CAP_SUBMIT gives the
// work to its own stream, which the closure is called with.
#include "acme/operators.h"

#include "router/operators/vendor/table.h"

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace acme {
namespace {

// Computes each element of `to` from one of `from`. Both are contiguous.
template <class Scalar, class Function>
void map(const at::Tensor& from, const at::Tensor& to, Function function) {
  const Scalar* in = from.const_data_ptr<Scalar>();
  Scalar* out = to.mutable_data_ptr<Scalar>();
  const std::int64_t count = to.numel();
  if (count == 0) {
    return;
  }
  torch_cuda::vendor::submit(to.device().index(), [=](void* /*native_stream*/) {
    std::transform(in, in + count, out, function);
  });
}

at::Tensor contiguous_like(const at::Tensor& self) {
  return at::empty_like(self, at::MemoryFormat::Contiguous);
}

} // namespace

at::Tensor relu(const at::Tensor& self) {
  const at::Tensor from = self.contiguous();
  at::Tensor result = contiguous_like(self);
  AT_DISPATCH_ALL_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "relu", [&] {
        map<scalar_t>(from, result, [](scalar_t x) {
          // Not a number stays so.
          return x < scalar_t(0) ? scalar_t(0) : x;
        });
      });
  return result;
}

// PyTorch has made the output, of the right size, type and strides.
void structured_silu_out::impl(const at::Tensor& self, const at::Tensor& out) {
  const at::Tensor from = self.contiguous();
  const at::Tensor to = out.is_contiguous() ? out : contiguous_like(out);
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, out.scalar_type(), "silu", [&] {
        map<scalar_t>(from, to, [](scalar_t x) {
          const auto wide = static_cast<double>(x);
          return static_cast<scalar_t>(wide / (1 + std::exp(-wide)));
        });
      });
  if (!to.is_same(out)) {
    out.copy_(to);
  }
}

// limit * tanh(x / limit): torch.ops.acme.soft_clip
at::Tensor soft_clip(const at::Tensor& self, double limit) {
  const at::Tensor from = self.contiguous();
  at::Tensor result = contiguous_like(self);
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "soft_clip", [&] {
    map<scalar_t>(from, result, [limit](scalar_t x) {
      return static_cast<scalar_t>(limit * std::tanh(x / limit));
    });
  });
  return result;
}

at::Tensor soft_clip_meta(const at::Tensor& self, double /*limit*/) {
  return contiguous_like(self);
}

} // namespace acme
