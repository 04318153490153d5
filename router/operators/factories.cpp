// Over c10's caching allocator, as upstream's are.
#include "router/operators/factories.h"

#include "router/operators/dispatch/registration.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/cuda/EmptyTensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

namespace torch_cuda::operators {
namespace {

using c10::DispatchKey;

c10::OperatorHandle find(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

at::Tensor with_deterministic_contents(at::Tensor tensor) {
  const auto& context = at::globalContext();
  if (C10_UNLIKELY(
          context.deterministicAlgorithms() &&
          context.deterministicFillUninitializedMemory())) {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

at::Tensor empty(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout,
    std::optional<at::Device> device,
    std::optional<bool> pin_memory,
    std::optional<at::MemoryFormat> memory_format) {
  return with_deterministic_contents(at::detail::empty_cuda(
      size, dtype, layout, device, pin_memory, memory_format));
}

at::Tensor empty_strided(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout,
    std::optional<at::Device> device,
    std::optional<bool> pin_memory) {
  return with_deterministic_contents(at::detail::empty_strided_cuda(
      size, stride, dtype, layout, device, pin_memory));
}

at::Tensor zeros_without_memory(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> /*layout*/,
    std::optional<at::Device> device,
    std::optional<bool> /*pin_memory*/) {
  at::Device where = c10::device_or_default(device);
  if (!where.has_index()) {
    where.set_index(c10::cuda::current_device());
  }
  at::native::ZeroTensorAllocator allocator(where);
  return at::detail::empty_generic(
      size,
      &allocator,
      c10::DispatchKeySet(DispatchKey::CUDA) |
          c10::DispatchKeySet(DispatchKey::ZeroTensor),
      c10::dtype_or_default(dtype),
      std::nullopt);
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  c10::cuda::CUDACachingAllocator::recordStream(
      self.storage().data_ptr(), c10::cuda::CUDAStream(stream));
}

template <class Function>
void add(const char* name, const char* overload, Function* function) {
  register_for_all(
      find(name, overload),
      DispatchKey::CUDA,
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(function));
}

} // namespace

void register_factories() {
  add("aten::empty", "memory_format", &empty);
  add("aten::empty_strided", "", &empty_strided);
  add("aten::_efficientzerotensor", "", &zeros_without_memory);
  add("aten::record_stream", "", &record_stream);
}

} // namespace torch_cuda::operators
