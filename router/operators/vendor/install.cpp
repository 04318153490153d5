// The choice of a vendor's kernel by the device's index.
#include "router/operators/vendor/install.h"

#include "router/aliasing/previous_kernel.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/dispatch/served.h"
#include "router/operators/vendor/library.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace torch_cuda::operators::vendor {
namespace {

class VendorsKernel final : public c10::OperatorKernel {
 public:
  VendorsKernel(
      const c10::OperatorHandle& op,
      c10::KernelFunction kernel,
      std::vector<c10::DeviceIndex> devices)
      : kernel_(std::move(kernel)),
        devices_(std::move(devices)),
        previous_(op, c10::DispatchKey::CUDA),
        arguments_(op.schema().arguments().size()) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    const auto device = device_of_call(*stack, arguments_);
    if (std::find(devices_.begin(), devices_.end(), device) != devices_.end()) {
      kernel_.callBoxed(op, keys, stack);
    } else {
      previous_(op, keys, stack);
    }
  }

 private:
  c10::KernelFunction kernel_;
  std::vector<c10::DeviceIndex> devices_;
  aliasing::PreviousKernel previous_;
  size_t arguments_;
};

void install(Library& library, bool alone) {
  for (auto& kernel : library.kernels) {
    const auto op = c10::Dispatcher::singleton().findSchema(kernel.op);
    TORCH_INTERNAL_ASSERT(op.has_value());
    note_vendors(op->operator_name(), library.name, library.devices);
    register_for_all(
        *op,
        c10::DispatchKey::CUDA,
        // Without other devices the dispatcher calls the vendor's function.
        alone ? std::move(kernel.function)
              : boxed(std::make_unique<VendorsKernel>(
                    *op, std::move(kernel.function), library.devices)),
        std::move(kernel.signature),
        std::move(kernel.schema),
        library.file);
  }
}

} // namespace

int install() {
  int count = 0;
  auto libraries = open_libraries();
  const auto devices = static_cast<size_t>(c10::cuda::device_count());
  for (auto& library : libraries) {
    try {
      install(library, library.devices.size() == devices);
    } catch (const c10::Error& error) {
      // The dispatcher compares the functions' types with the operators'.
      refuse(library, error.what_without_backtrace());
    }
    count += static_cast<int>(library.kernels.size());
  }
  return count;
}

} // namespace torch_cuda::operators::vendor
