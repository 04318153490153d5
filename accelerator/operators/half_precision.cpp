// Arguments to single precision, results back.
#include "accelerator/operators/half_precision.h"

#include "accelerator/aliasing/arguments.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using aliasing::map_tensors;
using at::Tensor;
using torch::jit::Stack;

bool says_that_half_is_lacking(const c10::Error& error) {
  const std::string_view said = error.what_without_backtrace();
  for (const char* type : {"'Half'", "'BFloat16'", "'ComplexHalf'"}) {
    if (said.find(std::string("not implemented for ") + type) !=
        std::string_view::npos) {
      return true;
    }
  }
  return false;
}

class InSinglePrecision {
 public:
  explicit InSinglePrecision(const c10::FunctionSchema& schema)
      : schema_(schema) {}

  Stack arguments(const Stack& given) {
    Stack single;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto& argument = schema_.arguments()[i];
      const auto* alias = argument.alias_info();
      const bool written = alias != nullptr && alias->isWrite();
      type_is_given_ =
          type_is_given_ || (argument.name() == "dtype" && !given[i].isNone());
      single.push_back(map_tensors(given[i], [&](const Tensor& tensor) {
        return across(tensor, written);
      }));
    }
    return single;
  }

  void finish(Stack& results) {
    for (const auto& [half, single] : written_) {
      if (half.sizes() != single.sizes() && half.layout() == c10::kStrided) {
        half.resize_(single.sizes());
      }
      half.copy_(single); // a sparse one takes over the sizes
    }
    for (auto& result : results) {
      result = map_tensors(std::move(result), [&](const Tensor& tensor) {
        return back(tensor);
      });
    }
  }

 private:
  Tensor across(const Tensor& tensor, bool written) {
    if (!tensor.defined() || !is_half_precision(tensor.scalar_type())) {
      return tensor;
    }
    const auto type = tensor.scalar_type();
    if (type != c10::kComplexHalf) {
      half_ = type;
    }
    auto single =
        tensor.to(tensor.is_complex() ? c10::kComplexFloat : c10::kFloat);
    if (written) {
      written_.emplace_back(tensor, single);
    }
    return single;
  }

  Tensor back(const Tensor& tensor) const {
    if (!tensor.defined()) {
      return tensor;
    }
    for (const auto& [half, single] : written_) {
      if (tensor.is_same(single)) {
        return half;
      }
    }
    if (type_is_given_) {
      return tensor;
    }
    if (tensor.scalar_type() == c10::kFloat) {
      return tensor.to(half_);
    }
    return tensor.scalar_type() == c10::kComplexFloat && half_ == c10::kHalf
        ? tensor.to(c10::kComplexHalf)
        : tensor;
  }

  const c10::FunctionSchema& schema_;
  c10::ScalarType half_ = c10::kHalf;
  bool type_is_given_ = false;
  std::vector<std::pair<Tensor, Tensor>> written_;
};

} // namespace

void call_with_half_precision(
    const c10::FunctionSchema& schema,
    Stack* stack,
    c10::function_ref<void(Stack*)> call) {
  const auto given = torch::jit::last(*stack, schema.arguments().size()).vec();
  const size_t below = stack->size() - given.size();
  std::exception_ptr first;
  try {
    call(stack);
    return;
  } catch (const c10::Error& error) {
    if (!says_that_half_is_lacking(error)) {
      throw;
    }
    first = std::current_exception();
  }
  InSinglePrecision single(schema);
  Stack results = single.arguments(given);
  try {
    call(&results);
  } catch (const c10::Error&) {
    std::rethrow_exception(first);
  }
  single.finish(results);
  stack->resize(below);
  for (auto& result : results) {
    stack->push_back(std::move(result));
  }
}

} // namespace torch_cuda::operators
