// A run on placeholders, and the work that the graph gets.
#include "router/operators/capture/recorded_call.h"

#include "router/aliasing/aliases.h"
#include "router/aliasing/arguments.h"
#include "router/operators/capture/stream_capture.h"
#include "router/operators/dispatch/profiled_kernel.h"
#include "router/operators/dispatch/runtime.h"
#include "router/operators/tensors/memory.h"
#include "router/operators/tensors/order.h"
#include "router/operators/tensors/placeholders.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace torch_cuda::operators {
namespace {

using aliasing::Aliases;
using aliasing::each_tensor;
using aliasing::map_tensors;
using at::Tensor;
using c10::IValue;
using torch::jit::Stack;

// Another tensor over the same memory: kernels may change an argument's sizes.
Tensor another(const Tensor& tensor) {
  return tensor.defined()
      ? Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
            c10::VariableVersion(0), true))
      : tensor;
}

// Puts a result where the capture said that it would be.
void write(const Tensor& result, const Tensor& place, const std::string& name) {
  TORCH_CHECK(
      result.sizes() == place.sizes() && result.dtype() == place.dtype(),
      name,
      ": the result has sizes ",
      result.sizes(),
      " in the replay of a CUDA graph and had ",
      place.sizes(),
      " in the capture. An operator whose result depends on the data of its tensors "
      "cannot be part of a graph: call it outside of the capture.");
  const auto& from = result.storage();
  const auto& to = place.storage();
  if (result.strides() == place.strides() &&
      result.storage_offset() == place.storage_offset() &&
      from.nbytes() == to.nbytes()) {
    if (from.nbytes() > 0) {
      std::memcpy(to.mutable_data(), from.data(), from.nbytes());
    }
    return;
  }
  place.copy_(result);
}

class RecordedCall final : public GraphWork {
 public:
  RecordedCall(
      HostFunction function,
      c10::Device device,
      Stack arguments,
      std::vector<Tensor> places)
      : function_(std::move(function)),
        device_(device),
        arguments_(std::move(arguments)),
        places_(std::move(places)) {}

  void run() noexcept override {
    try {
      replay();
    } catch (const c10::Error& error) {
      fail(error.what_without_backtrace());
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

 private:
  void replay() const {
    Stack stack;
    stack.reserve(arguments_.size());
    for (const IValue& argument : arguments_) {
      stack.push_back(map_tensors(argument, another));
    }
    std::optional<ReplayedGenerator> numbers;
    if (function_.numbers) {
      numbers.emplace(*function_.numbers);
      stack[*function_.generator] = numbers->host();
    }
    function_.run(&stack);
    if (numbers) {
      numbers->done();
    }
    size_t place = 0;
    const size_t first = stack.size() - function_.results;
    for (size_t i = first; i < stack.size(); ++i) {
      each_tensor(stack[i], [&](const Tensor& result) {
        const Tensor& to = places_.at(place++);
        if (to.defined()) {
          write(result, to, function_.name);
        }
      });
    }
  }

  void fail(const char* reason) const noexcept {
    fail_device(device_.index(), function_.name.c_str(), reason);
  }

  HostFunction function_;
  c10::Device device_;
  Stack arguments_;
  std::vector<Tensor> places_;
};

bool is_written(const HostFunction& function, size_t argument) {
  return std::find(
             function.written.begin(), function.written.end(), argument) !=
      function.written.end();
}

// A copy of what is the host's: a number stays one.
Tensor of_now(const Tensor& tensor) {
  auto copy = tensor.detach().clone();
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    copy.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return copy;
}

// Arguments as a kernel of the host takes them.
Stack cross(const HostFunction& function, const Stack& stack, Aliases& to) {
  Stack host;
  host.reserve(stack.size());
  for (size_t i = 0; i < stack.size(); ++i) {
    const bool written = is_written(function, i);
    host.push_back(map_tensors(stack[i], [&](const Tensor& tensor) {
      const bool copied = tensor.defined() && !tensor.is_cuda() && !written;
      return copied ? of_now(tensor) : to.far(tensor, written);
    }));
  }
  return host;
}

Stack run_on_placeholders(
    const HostFunction& function,
    const Stack& arguments,
    Aliases& placeholders) {
  Stack stack = cross(function, arguments, placeholders);
  if (function.numbers) {
    stack[*function.generator] = function.numbers->counting();
  }
  function.run(&stack);
  placeholders.take_over();
  for (IValue& result : stack) {
    result = map_tensors(std::move(result), [&](Tensor t) {
      return placeholders.near(std::move(t));
    });
  }
  return stack;
}

// Zeros first: they are indices that all tensors have. Where they are wrong, as
// divisors are, ones are right. What a program does wrong fails both ways.
Stack results_of(
    const HostFunction& function,
    const Stack& arguments,
    c10::Device device) {
  std::exception_ptr error;
  for (const int integers : {0, 1}) {
    try {
      Placeholders storages(device, integers);
      Aliases placeholders(storages, c10::kCUDA, c10::kCPU);
      return run_on_placeholders(function, arguments, placeholders);
    } catch (const c10::Error&) {
      error = error ? error : std::current_exception();
    }
  }
  std::rethrow_exception(error);
}

uint64_t elements(const Stack& results) {
  uint64_t count = 0;
  for (const IValue& result : results) {
    each_tensor(result, [&](const Tensor& tensor) {
      count += tensor.defined() ? static_cast<uint64_t>(tensor.numel()) : 0;
    });
  }
  return count;
}

// The results' memory where the function does not write to it itself.
std::vector<Tensor> places_of(
    const Stack& results,
    const Stack& arguments,
    Aliases& memory,
    c10::Device device) {
  std::vector<const void*> known;
  for (const IValue& argument : arguments) {
    each_tensor(argument, [&](const Tensor& tensor) {
      if (tensor.defined() && tensor.has_storage()) {
        known.push_back(tensor.storage().unsafeGetStorageImpl());
      }
    });
  }
  std::vector<Tensor> places;
  for (const IValue& result : results) {
    each_tensor(result, [&](const Tensor& tensor) {
      if (!tensor.defined() || !tensor.is_cuda()) {
        places.emplace_back();
        return;
      }
      if (!tensor.has_storage()) {
        wait_for_current_stream(device.index()); // throws
      }
      const void* storage = tensor.storage().unsafeGetStorageImpl();
      const bool is_arguments =
          std::find(known.begin(), known.end(), storage) != known.end();
      places.push_back(is_arguments ? Tensor() : memory.far(tensor, true));
    });
  }
  return places;
}

// Enough for rejection sampling, which takes a few numbers for an element.
constexpr uint64_t kNumbersByData = 64;

} // namespace

void record(HostFunction function, c10::Device device, Stack* stack) {
  Stack results = results_of(function, *stack, device);
  if (function.numbers) {
    function.numbers->reserve(
        function.draws_by_data ? kNumbersByData * elements(results) : 0);
  }
  // Tensors that it writes to have the sizes by now that they have at replays.
  CapturedMemory storages(device);
  Aliases memory(storages, c10::kCUDA, c10::kCPU);
  Stack arguments = cross(function, *stack, memory);
  auto places = places_of(results, *stack, memory, device);
  const std::string name = profiled_name(function.name);
  put_into_graph(
      device.index(),
      std::make_unique<RecordedCall>(
          std::move(function), device, std::move(arguments), std::move(places)),
      name);
  storages.take_over();
  *stack = std::move(results);
}

} // namespace torch_cuda::operators
