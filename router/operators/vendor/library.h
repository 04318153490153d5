// Vendors' libraries of operators: which devices of this process have one.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/CppSignature.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/operator_name.h>
#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch_cuda::operators::vendor {

/// The function that TORCH_CUDA_OPERATORS defines (table.h).
constexpr const char* kEntryPoint = "torch_cuda_vendor_operators_1";

struct Kernel {
  c10::OperatorName op;
  c10::KernelFunction function;
  std::optional<c10::impl::CppSignature> signature; // none of a boxed one
  std::unique_ptr<c10::FunctionSchema> schema; // of the function's types
};

/// A vendor's kernels, and the CUDA devices that they are for.
struct Library {
  std::string name; // the device library's
  std::string file; // of the operators
  std::vector<c10::DeviceIndex> devices;
  std::vector<Kernel> kernels;
};

/// Opens the libraries of operators of all devices; none where the process has
/// NVIDIA's runtime. Once a process.
/// @throws c10::Error for a library that cannot be used: which, and why.
std::vector<Library> open_libraries();

/// Throws the error for a library that cannot be used.
[[noreturn]] void refuse(const Library& library, const std::string& reason);

} // namespace torch_cuda::operators::vendor

/// For Python: the operators of the device library of that name are in a file,
/// for those that are not beside it. Before torch_cuda_route_operators
/// (router/operators/routing.h).
extern "C" void torch_cuda_announce_operators(
    const char* name,
    const char* file);
