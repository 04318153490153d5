// Operators of pu with kernels of their own: allocations.
#include "pu/csrc/operators/factories.h"

#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "pu/csrc/operators/errors.h"
#include "router/aliasing/aliases.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/empty_strided_ops.h>

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

} // namespace

void register_own(torch::Library& aten) {
  aten.impl("empty.memory_format", TORCH_FN(empty));
  aten.impl("empty_strided", TORCH_FN(empty_strided));
}

} // namespace torch_pu
