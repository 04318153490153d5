// What differs from crossings of other devices, and graphs.
#include "adapter/testing/stand_in/csrc/operators/call.h"

#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "adapter/testing/stand_in/csrc/device/generator.h"
#include "adapter/testing/stand_in/csrc/device/type.h"
#include "adapter/testing/stand_in/csrc/operators/storages.h"
#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandStream.h"
#include "router/aliasing/aliases.h"

namespace torch_stand_in {
namespace {

using at::Tensor;
using c10::IValue;
namespace aliasing = torch_cuda::aliasing;

c10::Device with_index(c10::Device device) {
  return device.has_index()
      ? device
      : c10::Device(kStandIn, c10::stand::current_device());
}

// Tensors as they are, whatever becomes of them later.
torch::jit::Stack frozen(c10::ArrayRef<IValue> values) {
  torch::jit::Stack copies;
  for (const auto& value : values) {
    copies.push_back(aliasing::map_tensors(value, [](const Tensor& tensor) {
      return tensor.defined()
          ? Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
                c10::VariableVersion(0), true))
          : tensor;
    }));
  }
  return copies;
}

struct Across {
  const c10::OperatorHandle& op;
  c10::DispatchKeySet target;
  CallStorages& storages;

  c10::Device device(c10::Device near) const {
    storages.set_home(with_index(near));
    return c10::kCPU;
  }
  static c10::Stream stream(const c10::Stream& stream) {
    return stream;
  }
  IValue generator(const IValue& value) const {
    return cpu_generator(
        value.isNone() ? default_generator(storages.home().index())
                       : value.toGenerator());
  }
  void kernel(torch::jit::Stack* stack, bool /*elsewhere*/) const {
    const c10::DeviceGuard guard(storages.home());
    op.redispatchBoxed(target, stack);
  }
};

void overwrite(const Tensor& to, const Tensor& from) {
  if (!to.defined() || !from.defined() || to.is_alias_of(from)) {
    return;
  }
  TORCH_CHECK(
      to.has_storage() && from.nbytes() == to.nbytes(),
      "stand-in error: an operator of a graph gives tensors of another size "
      "than it did when it was captured");
  const c10::DeviceGuard guard(to.device());
  C10_STAND_CHECK(standMemcpyAsync(
      to.storage().mutable_data(),
      from.storage().data(),
      std::min(to.storage().nbytes(), from.storage().nbytes()),
      standMemcpyDefault,
      c10::stand::getCurrentStandStream()));
}

void overwrite(const IValue& to, const IValue& from) {
  std::vector<Tensor> targets;
  aliasing::each_tensor(
      to, [&](const Tensor& tensor) { targets.push_back(tensor); });
  size_t i = 0;
  aliasing::each_tensor(
      from, [&](const Tensor& tensor) { overwrite(targets.at(i++), tensor); });
}

} // namespace

Call::Call(const c10::OperatorHandle& op, c10::DispatchKey target)
    : target_(target),
      crossing_(op.schema()),
      one_by_one_(aliasing::is_one_by_one(op.operator_name())),
      waits_(op.schema().name() == "aten::_local_scalar_dense") {}

void Call::operator()(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    torch::jit::Stack* stack) {
  if (auto* recording = Recording::active()) {
    run_recorded(*recording, op, stack);
  } else {
    run(op, stack);
  }
}

void Call::run_recorded(
    Recording& recording,
    const c10::OperatorHandle& op,
    torch::jit::Stack* stack) const {
  TORCH_CHECK(
      !waits_,
      "stand-in error: operation not permitted when a graph is captured: the "
      "host waits for it (in operator ",
      op.operator_name(),
      ")");
  const Recording::Whole whole;
  const auto arguments = frozen(crossing_.arguments(*stack));
  run(op, stack);
  const auto results = frozen(torch::jit::last(*stack, crossing_.results()));
  recording.add([this, op, arguments, results] {
    auto again = frozen(arguments);
    run(op, &again);
    for (size_t i = 0; i < results.size(); ++i) {
      overwrite(results[i], again[i]);
    }
  });
}

void Call::run(const c10::OperatorHandle& op, torch::jit::Stack* stack) const {
  const auto arguments = crossing_.arguments(*stack);
  aliasing::Devices devices{kStandIn, std::nullopt, std::nullopt};
  for (const auto& argument : crossing_.crossing()) {
    aliasing::each_tensor(arguments[argument.index], [&](const Tensor& tensor) {
      if (tensor.defined()) {
        devices.see(tensor, argument, one_by_one_);
      }
    });
  }
  if (devices.common && devices.foreign) {
    if (one_by_one_) {
      op.redispatchBoxed(target_, stack);
      return;
    }
    aliasing::refuse_devices(op, *devices.common, *devices.foreign);
  }
  CallStorages storages;
  aliasing::Aliases aliases(storages, kStandIn, c10::kCPU);
  Across across{op, target_, storages};
  crossing_.run(aliases, stack, across);
}

} // namespace torch_stand_in
