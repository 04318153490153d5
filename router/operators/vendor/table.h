/// @file
/// What a vendor's library of operators gives to torch_cuda: kernels for the
/// devices of its device library. It needs torch's headers and no others, and
/// links to nothing of torch_cuda.
///
/// @code
/// at::Tensor relu(const at::Tensor& self) { … }
///
/// TORCH_CUDA_OPERATORS(m) {
///   m.impl("relu", TORCH_FN(relu));
/// }
/// @endcode
///
/// The library is found beside the device library libaccel_NAME.so, as
/// libaccel_NAME_operators-2.15.so for PyTorch 2.15, or as
/// libaccel_NAME_operators.so, or where the entry point of an installed
/// distribution says (docs/vendors.md). It is opened only by the minor version
/// of PyTorch whose headers it was compiled with. Its kernels serve CUDA
/// tensors on devices of NAME only. They are called as kernels of the
/// dispatcher's key CUDA, with whatever stream is current, captured or not:
/// what they compute, they put into that stream (torch_cuda::vendor::submit).
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/CppSignature.h>
#include <ATen/core/op_registration/infer_schema.h>
#include <ATen/core/op_registration/op_registration.h>
#include <c10/core/Device.h>
#include <torch/csrc/api/include/torch/version.h>

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace torch_cuda::vendor {

/// A piece of work in a stream.
/// @param native_stream the library's own stream, where the device has
/// ACCEL_CAP_SUBMIT: what is put into it is in order. Null: the work is done
/// when this returns, on a thread that calls nothing of CUDA or torch.
using Work = std::function<void(void* native_stream)>;

/// The kernels of one library. Members are only ever added at the end.
class Table {
 public:
  virtual ~Table() = default;

  /// Registers a kernel of an operator that PyTorch or this library defines.
  /// @param name with the overload, such as "add.out"; without a namespace it
  /// is aten's.
  /// @param kernel a function: TORCH_FN(f), or &f.
  /// @throws c10::Error for an operator that there is not, for a kernel of
  /// other types than the operator's, and for a second kernel of one operator.
  template <class FuncPtr>
  std::enable_if_t<c10::is_compile_time_function_pointer<FuncPtr>::value> impl(
      const char* name,
      FuncPtr kernel) {
    using Function = typename FuncPtr::FuncType;
    add(name,
        c10::KernelFunction::makeFromUnboxedFunction(kernel),
        c10::impl::CppSignature::make<Function>(),
        c10::detail::inferFunctionSchemaFromFunctor<Function>());
  }
  /// Registers a kernel that is given as a pointer.
  template <class Function>
  std::enable_if_t<c10::guts::is_function_type<Function>::value> impl(
      const char* name,
      Function* kernel) {
    add(name,
        c10::KernelFunction::makeFromUnboxedRuntimeFunction(kernel),
        c10::impl::CppSignature::make<Function>(),
        c10::detail::inferFunctionSchemaFromFunctor<Function>());
  }

  /// Registers a boxed kernel.
  template <c10::BoxedKernel::BoxedKernelFunction* kernel>
  void impl_boxed(const char* name) {
    add(name,
        c10::KernelFunction::makeFromBoxedFunction<kernel>(),
        std::nullopt,
        nullptr);
  }

 protected:
  /// Takes a kernel with its types: impl and impl_boxed give them.
  virtual void add(
      const char* name,
      c10::KernelFunction kernel,
      std::optional<c10::impl::CppSignature> signature,
      std::unique_ptr<c10::FunctionSchema> inferred) = 0;

 public:
  /// What torch_cuda::vendor::submit calls.
  virtual void submit(c10::DeviceIndex device, Work work) = 0;
};

namespace detail {
__attribute__((visibility("hidden"))) inline Table* table = nullptr;
} // namespace detail

/// Puts work into the current stream of a CUDA device. While the stream is
/// captured, the work becomes part of the graph and is called in each of its
/// runs. An exception that it throws becomes a fault of the device.
///
/// What it points to stays valid as memory of the device does for any kernel:
/// memory of tensors that are freed meanwhile is used again by later work of
/// the same stream only.
/// @param device index of a CUDA device of this library.
/// @param work what is done in the stream.
/// @throws c10::Error for errors of the stream.
inline void submit(c10::DeviceIndex device, Work work) {
  detail::table->submit(device, std::move(work));
}

} // namespace torch_cuda::vendor

/// A number as text, once it is one: for TORCH_CUDA_VENDOR_TEXT.
#define TORCH_CUDA_VENDOR_TEXT_(number) #number
/// What a macro for a number says, as text.
#define TORCH_CUDA_VENDOR_TEXT(number) TORCH_CUDA_VENDOR_TEXT_(number)

/// The minor version of these headers' PyTorch, such as "2.15".
#define TORCH_CUDA_VENDOR_TORCH               \
  TORCH_CUDA_VENDOR_TEXT(TORCH_VERSION_MAJOR) \
  "." TORCH_CUDA_VENDOR_TEXT(TORCH_VERSION_MINOR)

/// The library's registrations, once a library; the table's name follows.
/// The text is what the library is known by before it is opened.
#define TORCH_CUDA_OPERATORS(m)                                            \
  extern "C" {                                                             \
  __attribute__((                                                          \
      visibility("default"))) extern const char torch_cuda_vendor_torch[]; \
  const char torch_cuda_vendor_torch[] =                                   \
      "torch_cuda_vendor_torch=" TORCH_CUDA_VENDOR_TORCH ";";              \
  }                                                                        \
  static void torch_cuda_register_operators(::torch_cuda::vendor::Table&); \
  extern "C" __attribute__((visibility("default"))) void                   \
  torch_cuda_vendor_operators_1(::torch_cuda::vendor::Table* table) {      \
    ::torch_cuda::vendor::detail::table = table;                           \
    torch_cuda_register_operators(*table);                                 \
  }                                                                        \
  static void torch_cuda_register_operators(::torch_cuda::vendor::Table& m)
