// A node of autograd whose two passes are work in graphs.
#include "accelerator/operators/capture/recorded_composite.h"

#include "accelerator/aliasing/arguments.h"
#include "accelerator/operators/capture/recorded_call.h"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IValue;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;
using torch::jit::Stack;

variable_list tensors_of(const Stack& arguments) {
  variable_list tensors;
  for (const IValue& argument : arguments) {
    aliasing::each_tensor(
        argument, [&](const Tensor& t) { tensors.push_back(t); });
  }
  return tensors;
}

variable_list take_results(Stack& stack) {
  variable_list results;
  for (IValue& value : stack) {
    results.push_back(std::move(value).toTensor());
  }
  return results;
}

// Kernels for training are not those for inference: both passes ask for the
// gradients that the program asks for. Returns the arguments that need one.
variable_list ask_for_gradients(
    const Stack& arguments,
    const std::vector<bool>& needed) {
  variable_list inputs;
  size_t number = 0;
  for (const Tensor& tensor : tensors_of(arguments)) {
    if (needed.at(number++)) {
      inputs.push_back(tensor);
      inputs.back().requires_grad_(true);
    }
  }
  return inputs;
}

void compute(
    const c10::OperatorHandle& op,
    const std::vector<bool>& needed,
    Stack* stack) {
  const c10::AutoGradMode enabled(true);
  ask_for_gradients(*stack, needed);
  op.callBoxed(stack);
  for (IValue& result : *stack) {
    result = std::move(result).toTensor().detach();
  }
}

// Arguments and the results' gradients on the stack make those of the arguments
// that are needed.
void differentiate(
    const c10::OperatorHandle& op,
    const std::vector<bool>& needed,
    Stack* stack) {
  const c10::AutoGradMode enabled(true);
  Stack given = torch::jit::pop(*stack, op.schema().returns().size());
  const variable_list gradients = take_results(given);
  const variable_list inputs = ask_for_gradients(*stack, needed);
  op.callBoxed(stack);
  const variable_list results = take_results(*stack);
  stack->clear();
  variable_list outputs;
  variable_list of_outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (gradients[i].defined() && results[i].requires_grad()) {
      outputs.push_back(results[i]);
      of_outputs.push_back(gradients[i]);
    }
  }
  auto found = outputs.empty() ? variable_list(inputs.size())
                               : torch::autograd::grad(
                                     outputs,
                                     inputs,
                                     of_outputs,
                                     /*retain_graph=*/std::nullopt,
                                     /*create_graph=*/false,
                                     /*allow_unused=*/true);
  for (auto& gradient : found) {
    stack->push_back(std::move(gradient));
  }
}

struct Composite : Function<Composite> {
  static variable_list forward(
      AutogradContext* context,
      const c10::OperatorHandle& op,
      c10::Device device,
      const IValue& arguments,
      const std::vector<bool>& needed,
      at::TensorList tensors) {
    context->save_for_backward(tensors.vec());
    context->saved_data["name"] = op.operator_name().name;
    context->saved_data["overload"] = op.operator_name().overload_name;
    context->saved_data["device"] = device;
    context->saved_data["arguments"] = arguments;
    context->set_materialize_grads(false);
    HostFunction function;
    function.name = c10::toString(op.operator_name());
    function.results = op.schema().returns().size();
    function.run = [op, needed](Stack* values) { compute(op, needed, values); };
    Stack stack = arguments.toTupleRef().elements().vec();
    record(std::move(function), device, &stack);
    return take_results(stack);
  }

  static variable_list backward(
      AutogradContext* context,
      const variable_list& gradients) {
    // Throws where one of them was changed meanwhile.
    const auto tensors = context->get_saved_variables();
    auto& saved = context->saved_data;
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
        saved["name"].toStringRef().c_str(),
        saved["overload"].toStringRef().c_str());
    std::vector<bool> needed;
    for (size_t i = 0; i < tensors.size(); ++i) {
      needed.push_back(context->needs_input_grad(i));
    }
    HostFunction function;
    function.name = c10::toString(op.operator_name()) + " (backward)";
    function.results = std::count(needed.begin(), needed.end(), true);
    function.run = [op, needed](Stack* values) {
      differentiate(op, needed, values);
    };
    Stack stack = saved["arguments"].toTupleRef().elements().vec();
    stack.insert(stack.end(), gradients.begin(), gradients.end());
    record(std::move(function), saved["device"].toDevice(), &stack);
    // One for each argument of forward().
    variable_list all(4);
    size_t next = 0;
    for (const bool is_needed : needed) {
      all.push_back(is_needed ? stack.at(next++).toTensor() : Tensor());
    }
    return all;
  }
};

} // namespace

void record_composite(
    const c10::OperatorHandle& op,
    c10::Device device,
    Stack* stack) {
  Stack arguments = torch::jit::pop(*stack, op.schema().arguments().size());
  const auto tensors = tensors_of(arguments);
  std::vector<bool> needed;
  for (const Tensor& tensor : tensors) {
    needed.push_back(
        c10::GradMode::is_enabled() && tensor.defined() &&
        tensor.requires_grad());
  }
  auto results = Composite::apply(
      op,
      device,
      IValue(c10::ivalue::Tuple::create(std::move(arguments))),
      needed,
      at::TensorList(tensors)); // of that type each one counts as an input
  for (auto& result : results) {
    stack->push_back(std::move(result));
  }
}

} // namespace torch_cuda::operators
