// Tensor.to between pu and cuda: one memory under two names, so nothing is
// copied.
#include "pu/csrc/operators/conversions.h"

#include "accelerator/aliasing/aliases.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/to_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>

namespace torch_pu {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Not so are tensors of a subclass, as those of FakeTensorMode.
bool is_dense(const Tensor& tensor) {
  const auto keys = tensor.key_set();
  return tensor.has_storage() && tensor.layout() == c10::kStrided &&
      (keys.has(c10::DispatchKey::PrivateUse1) ||
       keys.has(c10::DispatchKey::CUDA)) &&
      !keys.has(c10::DispatchKey::Python) && !tensor.is_nested() &&
      !tensor.is_quantized();
}

// The name goes with a device that is the tensor's own.
bool is_other_name(const Tensor& tensor, c10::Device device) {
  const auto own = tensor.device();
  const bool other = (own.type() == kPu && device.type() == kCuda) ||
      (own.type() == kCuda && device.type() == kPu);
  if (!other || !is_dense(tensor)) {
    return false;
  }
  const auto index = device.has_index()
      ? device.index()
      : c10::impl::getDeviceGuardImpl(kCuda)->getDevice().index();
  return index == own.index();
}

// An in-place operation on one of them is seen by what autograd saved of the
// other.
Tensor share_version(Tensor alias, const Tensor& tensor) {
  if (!tensor.is_inference()) {
    alias.unsafeGetTensorImpl()->set_version_counter(
        tensor.unsafeGetTensorImpl()->version_counter());
  }
  return alias;
}

struct ToOtherName : torch::autograd::Function<ToOtherName> {
  static Tensor forward(AutogradContext* context, const Tensor& tensor) {
    context->set_materialize_grads(false);
    return to_other_name(tensor);
  }
  static variable_list backward(
      AutogradContext* /*context*/,
      variable_list gradients) {
    return {
        gradients[0].defined() ? ToOtherName::apply(gradients[0]) : Tensor()};
  }
};

bool converts_nothing_else(
    const Tensor& self,
    std::optional<c10::ScalarType> type,
    bool copy,
    std::optional<c10::MemoryFormat> format) {
  return !copy && type.value_or(self.scalar_type()) == self.scalar_type() &&
      (format.value_or(c10::MemoryFormat::Preserve) ==
           c10::MemoryFormat::Preserve ||
       self.is_contiguous(*format));
}

Tensor to_dtype_layout(
    const Tensor& self,
    std::optional<c10::ScalarType> type,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory,
    bool non_blocking,
    bool copy,
    std::optional<c10::MemoryFormat> format) {
  if (device && is_other_name(self, *device) &&
      layout.value_or(c10::kStrided) == c10::kStrided &&
      !pin_memory.value_or(false) &&
      converts_nothing_else(self, type, copy, format)) {
    return ToOtherName::apply(self);
  }
  return at::native::to(
      self, type, layout, device, pin_memory, non_blocking, copy, format);
}

Tensor to_device(
    const Tensor& self,
    c10::Device device,
    c10::ScalarType type,
    bool non_blocking,
    bool copy,
    std::optional<c10::MemoryFormat> format) {
  if (is_other_name(self, device) &&
      converts_nothing_else(self, type, copy, format)) {
    return ToOtherName::apply(self);
  }
  return at::native::to(self, device, type, non_blocking, copy, format);
}

Tensor to_other(
    const Tensor& self,
    const Tensor& other,
    bool non_blocking,
    bool copy,
    std::optional<c10::MemoryFormat> format) {
  if (is_other_name(self, other.device()) && other.layout() == c10::kStrided &&
      converts_nothing_else(self, other.scalar_type(), copy, format)) {
    return ToOtherName::apply(self);
  }
  return at::native::to(self, other, non_blocking, copy, format);
}

} // namespace

Tensor to_other_name(const Tensor& tensor) {
  Pairs pairs;
  torch_cuda::aliasing::Aliases aliases(pairs, kPu, kCuda);
  if (tensor.device().type() == kCuda) {
    Tensor shallow(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
        c10::VariableVersion(0), true));
    return share_version(aliases.near(std::move(shallow)), tensor);
  }
  auto alias = aliases.far(tensor, false);
  if (tensor.has_storage()) {
    hand_out(tensor.storage(), alias.storage());
  }
  return share_version(std::move(alias), tensor);
}

void register_conversions(torch::Library& aten) {
  aten.impl("to.dtype_layout", TORCH_FN(to_dtype_layout));
  aten.impl("to.device", TORCH_FN(to_device));
  aten.impl("to.other", TORCH_FN(to_other));
}

} // namespace torch_pu
