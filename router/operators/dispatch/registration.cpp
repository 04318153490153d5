// The choice by device, where a process has devices of both kinds.
#include "router/operators/dispatch/registration.h"

#include "router/aliasing/arguments.h"
#include "router/aliasing/kernel_address.h"
#include "router/aliasing/previous_kernel.h"
#include "router/operators/dispatch/advice.h"
#include "router/operators/dispatch/devices.h"
#include "router/operators/dispatch/names.h"
#include "router/operators/dispatch/served.h"

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAFunctions.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace torch_cuda::operators {
namespace {

using c10::IValue;
using torch::jit::Stack;

std::optional<c10::DeviceIndex> cuda_device_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda()
      ? std::optional(tensor.device().index())
      : std::nullopt;
}

std::optional<c10::DeviceIndex> cuda_device_of(const IValue& value) {
  if (value.isTensor()) {
    return cuda_device_of(value.toTensor());
  }
  if (value.isTensorList() || aliasing::is_optional_tensor_list(value)) {
    for (const IValue& element : value.toListRef()) {
      if (const auto device = cuda_device_of(element)) {
        return device;
      }
    }
  }
  return std::nullopt;
}

using Serves = bool (*)(c10::DeviceIndex device);

// What this library has registered.
using OperatorNames = std::unordered_set<c10::OperatorName>;

std::map<c10::DispatchKey, OperatorNames>& own_kernels() {
  static auto* all = new std::map<c10::DispatchKey, OperatorNames>;
  return *all;
}

bool serves_none(c10::DeviceIndex /*device*/) {
  return false;
}

// Who has registered the kernel of a key: a file, whose end says its language.
// The dispatcher's dump has a line a key, "CUDA: registered at FILE:LINE ...".
std::string file_of_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key) {
  const std::string dump = op.dumpState();
  for (const char* state : {": ", " (inactive): "}) {
    const std::string beginning =
        std::string("\n") + c10::toString(key) + state + "registered at ";
    const auto at = dump.find(beginning);
    if (at != std::string::npos) {
      const auto file = at + beginning.size();
      return dump.substr(file, dump.find(':', file) - file);
    }
  }
  return {};
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() &&
      text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Which devices a kernel serves whose code has no address: it is called with a
// stack.
Serves served_by_boxed_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key) {
  const std::string file = file_of_kernel(op, key);
  // A program's Python launches kernels of its own, Triton's. PyTorch's own
  // has some that are quicker on a GPU, beside those in C++.
  const bool is_pytorchs = ends_with(file, ".py")
      ? file.find(folder_of_pytorch()) == 0
      : is_pytorchs_code(op.operator_name());
  return is_pytorchs ? serves_itself : runs_code;
}

// Which devices the kernel serves that is there. It may be another library's
// than PyTorch's, with code of another kind.
Serves served_by_kernel(const c10::OperatorHandle& op, c10::DispatchKey key) {
  if (!op.hasKernelForDispatchKey(key) ||
      own_kernels()[key].count(op.operator_name()) != 0) {
    return serves_itself;
  }
  const void* address = aliasing::kernel_address(op, key);
  if (address == nullptr) {
    return served_by_boxed_kernel(op, key);
  }
  if (is_in_pytorch(address)) {
    return serves_itself;
  }
  return code_of_library(address) == LibraryCode::kMachineCode ? serves_none
                                                               : runs_code;
}

int count_served(Serves serves) {
  int count = 0;
  for (c10::DeviceIndex i = 0; i < c10::cuda::device_count(); ++i) {
    count += serves(i) ? 1 : 0;
  }
  return count;
}

class ChoosingKernel final : public c10::OperatorKernel {
 public:
  ChoosingKernel(
      const c10::OperatorHandle& op,
      c10::DispatchKey key,
      Serves serves,
      c10::KernelFunction kernel)
      : serves_(serves),
        kernel_(std::move(kernel)),
        previous_(op, key),
        arguments_(op.schema().arguments().size()) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      Stack* stack) {
    if (serves_(device_of_call(*stack, arguments_))) {
      previous_(op, keys, stack);
    } else {
      kernel_.callBoxed(op, keys, stack);
    }
  }

 private:
  Serves serves_;
  c10::KernelFunction kernel_;
  aliasing::PreviousKernel previous_;
  size_t arguments_;
};

std::optional<std::string> difference_between(
    const c10::OperatorHandle& op,
    const c10::FunctionSchema& inferred) {
  return c10::findSchemaDifferences(
      op.schema().cloneWithRealTypes(/*with_symint=*/false),
      inferred.cloneWithRealTypes());
}

void refuse_call(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    Stack* stack) {
  const auto device = device_of_call(*stack, op.schema().arguments().size());
  const char* instead = instead_of(op.operator_name());
  const std::string advice = instead == nullptr
      ? std::string()
      : std::string(" What does the same here is ") + instead + ".";
  TORCH_CHECK_NOT_IMPLEMENTED(
      !has_machine_code_only(),
      op.operator_name(),
      " on cuda:",
      static_cast<int>(device),
      ": PyTorch has only a CUDA kernel for this operator, and this build of PyTorch "
      "contains it only as machine code for NVIDIA's GPUs. Needed is a kernel of the "
      "device's vendor, or torch_cuda, which contains PyTorch's kernels as PTX.",
      advice);
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      op.operator_name(),
      " on cuda:",
      static_cast<int>(device),
      ": PyTorch has only a CUDA kernel for this operator, and this device runs no "
      "CUDA code. Needed is a kernel of the device's vendor, or a device that runs "
      "CUDA code (TORCH_CUDA_DEVICES=sim).",
      advice);
}

} // namespace

c10::DeviceIndex device_of_call(const Stack& stack, size_t arguments) {
  std::optional<c10::DeviceIndex> asked;
  for (size_t i = stack.size() - arguments; i < stack.size(); ++i) {
    if (const auto device = cuda_device_of(stack[i])) {
      return *device;
    }
    if (stack[i].isDevice()) {
      const auto device = stack[i].toDevice();
      if (device.is_cuda() && device.has_index()) {
        asked = device.index();
      }
    }
  }
  return asked ? *asked : c10::cuda::current_device();
}

void register_for_all(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::optional<c10::impl::CppSignature> signature,
    std::unique_ptr<c10::FunctionSchema> schema,
    std::string origin) {
  if (key == c10::DispatchKey::CUDA && origin == kHosts) {
    note_hosts(op.operator_name());
  }
  own_kernels()[key].insert(op.operator_name());
  aliasing::register_for_good(
      op,
      key,
      std::move(kernel),
      std::move(origin),
      std::move(signature),
      std::move(schema));
}

bool register_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::string origin) {
  const Serves serves = served_by_kernel(op, key);
  const int served = count_served(serves);
  if (served > 0 && served == c10::cuda::device_count()) {
    return false;
  }
  register_for_all(
      op,
      key,
      served > 0 ? boxed(std::make_unique<ChoosingKernel>(
                       op, key, serves, std::move(kernel)))
                 : std::move(kernel),
      std::nullopt,
      nullptr,
      std::move(origin));
  return true;
}

void register_checked(
    const char* name,
    const char* overload,
    const c10::FunctionSchema& inferred,
    c10::KernelFunction kernel) {
  const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!op) {
    return;
  }
  const auto difference = difference_between(*op, inferred);
  TORCH_CHECK(
      !difference,
      "torch_cuda: a kernel of ",
      op->operator_name(),
      " does not fit this version of PyTorch: ",
      *difference);
  register_kernel(*op, c10::DispatchKey::CUDA, std::move(kernel));
}

bool fits(const c10::OperatorHandle& op, const c10::FunctionSchema& inferred) {
  return !difference_between(op, inferred);
}

void refuse(const c10::OperatorHandle& op, c10::DispatchKey key) {
  note_refused(op.operator_name());
  register_kernel(
      op,
      key,
      c10::KernelFunction::makeFromBoxedFunction<&refuse_call>(),
      "router/operators (refused)");
}

} // namespace torch_cuda::operators
