// Takes the place of native/cuda/TensorFactories.cu in builds whose op profile
// leaves it out: the fuser of TorchScript refers to one of its functions.

#include <ATen/core/Tensor.h>
#include <ATen/cuda/EmptyTensor.h>
#include <ATen/ops/empty_strided_native.h>

namespace at::native {

Tensor empty_strided_cuda(
    IntArrayRef size,
    IntArrayRef stride,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  return at::detail::empty_strided_cuda(
      size, stride, dtype, layout, device, pin_memory);
}

} // namespace at::native
