// CUDA's kernels for all that it serves.
#include "pu/csrc/operators/registration.h"

#include "pu/csrc/operators/call.h"
#include "pu/csrc/operators/factories.h"
#include "pu/csrc/operators/wrappers.h"
#include "router/aliasing/operators.h"
#include "router/facade/registration.h"

#include <torch/library.h>

#include <memory>

namespace torch_pu {

int register_operators() {
  // Never destroyed, as a registration ends with it.
  const auto library = [](c10::DispatchKey key) -> torch::Library& {
    return *new torch::Library(
        torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  };
  register_for_wrappers(library(c10::DispatchKey::AutogradOther));
  register_own(library(c10::DispatchKey::PrivateUse1));
  return torch_cuda::facade::register_operators(
      {c10::BackendComponent::CUDABit,
       [](const c10::OperatorHandle& op, c10::DispatchKey cuda) {
         return torch_cuda::aliasing::boxed(std::make_unique<Call>(op, cuda));
       },
       [](const c10::OperatorHandle& /*op*/) { return false; }},
      "torch_pu");
}

} // namespace torch_pu
