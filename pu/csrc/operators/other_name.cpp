// The two names.
#include "pu/csrc/operators/other_name.h"

#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "router/aliasing/aliases.h"

#include <ATen/TensorSubclassLikeUtils.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace torch_pu {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// An in-place operation on one of them is seen by what autograd saved of the
// other.
Tensor share_version(Tensor alias, const Tensor& tensor) {
  if (!tensor.is_inference()) {
    alias.unsafeGetTensorImpl()->set_version_counter(
        tensor.unsafeGetTensorImpl()->version_counter());
  }
  return alias;
}

struct Lend : torch::autograd::Function<Lend> {
  static Tensor forward(AutogradContext* context, const Tensor& tensor) {
    context->set_materialize_grads(false);
    return to_other_name(tensor);
  }
  static variable_list backward(
      AutogradContext* /*context*/,
      variable_list gradients) {
    return {gradients[0].defined() ? lend(gradients[0]) : Tensor()};
  }
};

// Such as those of torch.func and of FakeTensorMode.
bool wraps_others(const Tensor& tensor) {
  constexpr c10::DispatchKeySet kOthers(
      {c10::DispatchKey::Batched,
       c10::DispatchKey::Python,
       c10::DispatchKey::ZeroTensor});
  return tensor.key_set().has_any(at::kFunctorchWrappedTensors | kOthers);
}

bool has_forward_gradient(const Tensor& tensor) {
  return tensor._fw_grad(/*level=*/0).defined();
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

Tensor as_other_name(const Tensor& tensor, c10::DeviceType type) {
  const auto own = tensor.device().type();
  if (own == type) {
    return tensor;
  }
  TORCH_CHECK_VALUE(
      own == (type == kPu ? kCuda : kPu),
      "Expected a tensor of pu or cuda, but found one of ",
      tensor.device());
  TORCH_CHECK(
      !wraps_others(tensor),
      "A tensor that wraps others, as within torch.func and "
      "FakeTensorMode, has no memory to share. tensor.to() makes a copy.");
  TORCH_CHECK(
      !tensor.requires_grad() && !has_forward_gradient(tensor),
      "The tensor carries gradients, which would not see what is written "
      "under the other name. Use tensor.detach() first, or tensor.to(), which "
      "makes a copy.");
  return to_other_name(tensor);
}

bool can_be_lent(const Tensor& tensor) {
  return tensor.has_storage() && tensor.layout() == c10::kStrided &&
      (tensor.is_privateuseone() || tensor.is_cuda()) && !tensor.is_nested() &&
      !tensor.is_quantized() && !wraps_others(tensor) &&
      !has_forward_gradient(tensor);
}

Tensor lend(const Tensor& tensor) {
  if (can_be_lent(tensor)) {
    return Lend::apply(tensor);
  }
  const auto own = tensor.device();
  return tensor.to(own.type() == kCuda ? to_pu(own) : to_cuda(own));
}

} // namespace torch_pu
