// Arguments to single precision, results back.
#include "router/operators/calls/half_precision.h"

#include "router/aliasing/arguments.h"
#include "router/operators/calls/in_single_precision.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <optional>
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
  InSinglePrecision(
      const c10::FunctionSchema& schema,
      const SinglePrecision* known)
      : schema_(schema), known_(known) {}

  Stack arguments(const Stack& given) {
    Stack single;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto& argument = schema_.arguments()[i];
      const bool written = aliasing::is_written(schema_, argument);
      if (argument.name() == "dtype" && !given[i].isNone()) {
        if (known_ != nullptr && is_half_precision(given[i].toScalarType())) {
          single.emplace_back(across(given[i].toScalarType()));
          continue;
        }
        type_is_given_ = true;
      }
      if (argument.name() == "weight" && given[i].isTensor() &&
          given[i].toTensor().defined()) {
        weights_ = given[i].toTensor().scalar_type();
      }
      single.push_back(map_tensors(given[i], [&](const Tensor& tensor) {
        return across(tensor, written);
      }));
    }
    return single;
  }

  void finish(Stack& results) {
    for (const auto& [half, single, written] : crossed_) {
      if (!written) {
        continue;
      }
      if (half.sizes() != single.sizes() && half.layout() == c10::kStrided) {
        half.resize_(single.sizes());
      }
      half.copy_(single); // a sparse one takes over the sizes
    }
    for (size_t i = 0; i < results.size(); ++i) {
      results[i] =
          map_tensors(std::move(results[i]), [&](const Tensor& tensor) {
            return back(tensor, type_of_result(i));
          });
    }
  }

 private:
  Tensor across(const Tensor& tensor, bool written) {
    if (!tensor.defined() || !is_half_precision(tensor.scalar_type())) {
      return tensor;
    }
    for (auto& [half, single, is_written] : crossed_) {
      if (half.is_same(tensor)) {
        is_written = is_written || written;
        return single;
      }
    }
    auto single = tensor.to(across(tensor.scalar_type()));
    crossed_.push_back({tensor, single, written});
    return single;
  }

  c10::ScalarType across(c10::ScalarType half) {
    if (half == c10::kComplexHalf) {
      return c10::kComplexFloat;
    }
    half_ = half;
    return c10::kFloat;
  }

  SingleResult type_of_result(size_t index) const {
    return known_ != nullptr && index < known_->results.size()
        ? static_cast<SingleResult>(known_->results[index])
        : SingleResult::Half;
  }

  Tensor back(const Tensor& tensor, SingleResult type) const {
    if (!tensor.defined()) {
      return tensor;
    }
    for (const auto& [half, single, written] : crossed_) {
      if (written && tensor.is_same(single)) {
        return half;
      }
    }
    if (type_is_given_ || type == SingleResult::Single) {
      return tensor;
    }
    if (tensor.scalar_type() == c10::kFloat) {
      return tensor.to(
          type == SingleResult::Weights ? weights_.value_or(half_) : half_);
    }
    return tensor.scalar_type() == c10::kComplexFloat && half_ == c10::kHalf
        ? tensor.to(c10::kComplexHalf)
        : tensor;
  }

  struct Crossed {
    Tensor half;
    Tensor single;
    bool written;
  };

  const c10::FunctionSchema& schema_;
  const SinglePrecision* known_;
  c10::ScalarType half_ = c10::kHalf;
  std::optional<c10::ScalarType> weights_;
  bool type_is_given_ = false;
  std::vector<Crossed> crossed_; // one tensor stays one tensor
};

// What a kernel wrote before it came to a type that it lacks: kernels of lists
// go from tensor to tensor, and those of one type are done when the next is
// refused.
class FirstWrites {
 public:
  FirstWrites(const c10::FunctionSchema& schema, const Stack& given) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].isTensorList() &&
          aliasing::is_written(schema, schema.arguments()[i])) {
        keep(given[i].toTensorVector());
      }
    }
  }

  void undo() const {
    for (const auto& [tensor, before] : kept_) {
      tensor.copy_(before);
    }
  }

 private:
  void keep(const std::vector<Tensor>& written) {
    const auto same_type = [&](const Tensor& tensor) {
      return tensor.scalar_type() == written.front().scalar_type();
    };
    // The first tensor of the only type is refused before anything is written.
    if (std::all_of(written.begin(), written.end(), same_type)) {
      return;
    }
    for (const auto& tensor : written) {
      kept_.emplace_back(tensor, tensor.clone());
    }
  }

  std::vector<std::pair<Tensor, Tensor>> kept_;
};

} // namespace

void call_with_half_precision(
    const c10::FunctionSchema& schema,
    Stack* stack,
    c10::function_ref<void(Stack*)> call) {
  const auto given = torch::jit::last(*stack, schema.arguments().size()).vec();
  const size_t below = stack->size() - given.size();
  const auto* known = in_single_precision(schema, given);
  std::exception_ptr first;
  if (known == nullptr) {
    const FirstWrites writes(schema, given);
    try {
      call(stack);
      return;
    } catch (const c10::Error& error) {
      if (!says_that_half_is_lacking(error)) {
        throw;
      }
      first = std::current_exception();
    }
    writes.undo();
  }
  InSinglePrecision single(schema, known);
  Stack results = single.arguments(given);
  try {
    call(&results);
  } catch (const c10::Error&) {
    if (first) {
      std::rethrow_exception(first);
    }
    throw;
  }
  single.finish(results);
  stack->resize(below);
  for (auto& result : results) {
    stack->push_back(std::move(result));
  }
}

} // namespace torch_cuda::operators
