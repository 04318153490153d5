// Arguments across, CUDA's kernel, results back.
#include "pu/csrc/operators/call.h"

#include "accelerator/aliasing/aliases.h"
#include "pu/csrc/device/generator.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "pu/csrc/operators/errors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace torch_pu {
namespace {

using at::Tensor;
using c10::IValue;
using torch_cuda::aliasing::Aliases;
using torch_cuda::aliasing::Kind;

// Operators that take tensors of two devices.
constexpr std::array<std::string_view, 7> kMixed = {
    "aten::_to_copy",
    "aten::copy_",
    "aten::copy",
    "aten::_copy_from",
    "aten::_copy_from_and_resize",
    "aten::_foreach_copy_",
    "aten::is_set_to",
};

bool takes_any_device(const c10::OperatorName& name) {
  return std::find(kMixed.begin(), kMixed.end(), name.name) != kMixed.end();
}

} // namespace

Call::Call(const c10::OperatorHandle& op, c10::DispatchKey target)
    : target_(target),
      crossing_(torch_cuda::aliasing::crossing_arguments(op.schema())),
      arguments_(op.schema().arguments().size()),
      results_(op.schema().returns().size()),
      mutates_(std::any_of(
          crossing_.begin(),
          crossing_.end(),
          [](const auto& argument) { return argument.written; })),
      any_device_(takes_any_device(op.operator_name())) {}

// A tensor that the program has on CUDA is on another device, as far as the
// program knows.
void Call::check(const c10::OperatorHandle& op, const IValue& value) const {
  torch_cuda::aliasing::each_tensor(value, [&](const Tensor& tensor) {
    TORCH_CHECK(
        !tensor.defined() || !tensor.is_cuda(),
        "Expected all tensors to be on the same device, but found at least "
        "two devices, ",
        c10::DeviceTypeName(kPu, /*lower_case=*/true),
        " and ",
        tensor.device(),
        "! (in operator ",
        op.operator_name(),
        "). tensor.to(\"pu\") copies it to pu, and torch_pu.as_pu(tensor) makes "
        "it a tensor of pu over the same memory.");
  });
}

void Call::operator()(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    torch::jit::Stack* stack) {
  Pairs pairs;
  Aliases aliases(pairs, kPu, kCuda);
  bool stays = false; // the results do, where a device is asked for
  const size_t first = stack->size() - arguments_;
  for (const auto& argument : crossing_) {
    IValue& value = (*stack)[first + argument.index];
    if (value.isNone()) {
      continue;
    }
    switch (argument.kind) {
      case Kind::Tensor:
        if (!any_device_) {
          check(op, value);
        }
        value = aliases.far(value.toTensor(), argument.written);
        break;
      case Kind::TensorList:
        if (!any_device_) {
          check(op, value);
        }
        value = torch_cuda::aliasing::map_tensors(
            std::move(value), [&](const Tensor& tensor) {
              return aliases.far(tensor, argument.written);
            });
        break;
      case Kind::Device:
        stays = value.toDevice().type() != kPu;
        value = to_cuda(value.toDevice());
        break;
      case Kind::Generator:
        if (value.toGenerator().device().type() == kPu) {
          value = cuda_generator(value.toGenerator());
        }
        break;
      case Kind::Storage:
        value = aliases.far(value.toStorage(), argument.written);
        break;
      case Kind::Stream:
        value = to_cuda(value.toStream());
        break;
    }
  }
  try {
    op.redispatchBoxed(target_, stack);
  } catch (const c10::Error&) {
    rethrow_in_words_of_pu();
  }
  if (mutates_) {
    aliases.take_over();
  }
  if (stays) {
    return;
  }
  for (size_t i = stack->size() - results_; i < stack->size(); ++i) {
    (*stack)[i] = torch_cuda::aliasing::map_tensors(
        std::move((*stack)[i]),
        [&](Tensor tensor) { return aliases.near(std::move(tensor)); });
  }
}

} // namespace torch_pu
