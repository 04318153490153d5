// Operators of pu with kernels of their own: allocations and views.
#include "pu/csrc/operators/factories.h"

#include "accelerator/aliasing/aliases.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "pu/csrc/operators/errors.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/empty_strided_ops.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

#include <optional>
#include <utility>

namespace torch_pu {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;

constexpr DispatchKeySet kCudaKeys(DispatchKey::CUDA);

std::optional<c10::Device> cuda_device(std::optional<c10::Device> device) {
  return to_cuda(device.value_or(c10::Device(kPu)));
}

template <class Make>
Tensor made(const Make& make) {
  try {
    Pairs pairs;
    return torch_cuda::aliasing::Aliases(pairs, kPu, kCuda).near(make());
  } catch (const c10::Error&) {
    rethrow_in_words_of_pu();
  }
}

Tensor empty(
    c10::SymIntArrayRef size,
    std::optional<c10::ScalarType> type,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory,
    std::optional<c10::MemoryFormat> format) {
  return made([&] {
    return at::_ops::empty_memory_format::redispatch(
        kCudaKeys, size, type, layout, cuda_device(device), pin_memory, format);
  });
}

Tensor empty_strided(
    c10::SymIntArrayRef size,
    c10::SymIntArrayRef stride,
    std::optional<c10::ScalarType> type,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory) {
  return made([&] {
    return at::_ops::empty_strided::redispatch(
        kCudaKeys, size, stride, type, layout, cuda_device(device), pin_memory);
  });
}

// Tensor.set_data, and Module.to with it, puts a tensor of pu into a Parameter
// of another device and back: they are of one class, as CUDA's and the CPU's.
bool has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  const auto is_dense = [](const Tensor& tensor) {
    return tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
        !tensor.is_nested() &&
        (tensor.is_privateuseone() || tensor.is_cuda() || tensor.is_cpu());
  };
  const auto is_sparse = [](const Tensor& tensor) {
    return tensor.layout() == c10::kSparse;
  };
  return (is_dense(self) && is_dense(from)) ||
      (is_sparse(self) && is_sparse(from));
}

} // namespace

void register_own(torch::Library& aten) {
  aten.impl("empty.memory_format", TORCH_FN(empty));
  aten.impl("empty_strided", TORCH_FN(empty_strided));
  // These look at sizes and strides only.
  aten.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  aten.impl("view", TORCH_FN(at::native::view));
  aten.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  aten.impl("unfold", TORCH_FN(at::native::unfold));
  aten.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  aten.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
}

void register_set_data(torch::Library& aten) {
  aten.impl(
      "_has_compatible_shallow_copy_type",
      TORCH_FN(has_compatible_shallow_copy_type));
}

} // namespace torch_pu
