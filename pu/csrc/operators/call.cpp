// What differs from crossings of other devices.
#include "pu/csrc/operators/call.h"

#include "pu/csrc/device/generator.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "pu/csrc/operators/errors.h"
#include "router/aliasing/aliases.h"

#include <utility>

namespace torch_pu {
namespace {

using c10::IValue;
namespace aliasing = torch_cuda::aliasing;

struct Across {
  const c10::OperatorHandle& op;
  c10::DispatchKeySet target;

  static c10::Device device(c10::Device pu) {
    return to_cuda(pu);
  }
  static c10::Stream stream(const c10::Stream& pu) {
    return to_cuda(pu);
  }
  static IValue generator(const IValue& value) {
    return value.isGenerator() && value.toGenerator().device().type() == kPu
        ? IValue(cuda_generator(value.toGenerator()))
        : value;
  }
  void kernel(torch::jit::Stack* stack, bool /*elsewhere*/) const {
    try {
      op.redispatchBoxed(target, stack);
    } catch (const c10::Error&) {
      rethrow_in_words_of_pu();
    }
  }
};

} // namespace

Call::Call(const c10::OperatorHandle& op, c10::DispatchKey target)
    : target_(target), crossing_(op.schema()) {}

// A tensor that the program has on CUDA is on another device, as far as the
// program knows.
void Call::check(const c10::OperatorHandle& op, const torch::jit::Stack& stack)
    const {
  const auto arguments = crossing_.arguments(stack);
  for (const auto& argument : crossing_.crossing()) {
    if (argument.place == aliasing::Place::Anywhere) {
      continue;
    }
    aliasing::each_tensor(
        arguments[argument.index], [&](const at::Tensor& tensor) {
          if (tensor.defined() && tensor.is_cuda()) {
            aliasing::refuse_devices(
                op,
                c10::Device(kPu),
                tensor.device(),
                ". tensor.to(\"pu\") copies it to pu, and "
                "torch_pu.as_pu(tensor) makes it a tensor of pu over the same "
                "memory.");
          }
        });
  }
}

void Call::operator()(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    torch::jit::Stack* stack) {
  check(op, *stack);
  Pairs pairs;
  aliasing::Aliases aliases(pairs, kPu, kCuda);
  Across across{op, target_};
  crossing_.run(aliases, stack, across);
}

} // namespace torch_pu
