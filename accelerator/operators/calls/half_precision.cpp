// Arguments to single precision, results back.
#include "accelerator/operators/calls/half_precision.h"

#include "accelerator/aliasing/arguments.h"

#include <ATen/MemoryOverlap.h>
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

// The type of a result of an operator that is computed in single precision.
enum class Result : char {
  Half = 'h', // that of the numbers that came as such
  Single = 's', // CUDA gives what it accumulated
  Weights = 'w', // that of the argument `weight`, or as Half without one
};

// Operators that CUDA has in half precision and the CPU has not, or otherwise,
// and what their results are, one letter each. Those that are not named are
// Half.
struct SinglePrecision {
  std::string_view name; // of all overloads, or of several, with *
  std::string_view results;
  std::string_view only_if = ""; // a true argument, or one of these:
};
constexpr std::string_view kSparse = "a sparse tensor";
constexpr std::string_view kFloat16 = "a tensor of float16";
constexpr SinglePrecision kInSinglePrecision[] = {
    {"aten::_fft_*", ""},
    {"aten::native_batch_norm", "hss"},
    {"aten::_native_batch_norm_legit", "hss"},
    {"aten::_batch_norm_with_update", "hss"},
    {"aten::native_batch_norm_backward", "hww"},
    {"aten::batch_norm_backward", "hww"},
    {"aten::batch_norm_update_stats", "ss"},
    {"aten::native_layer_norm", "hss"},
    {"aten::native_layer_norm_backward", "hww"},
    // The CPU adds many numbers, or multiplies them, in half precision: of ones
    // in bfloat16 no sum is above 256.
    {"aten::prod", ""},
    {"aten::embedding_dense_backward", ""},
    {"aten::_embedding_bag_backward", ""},
    {"aten::_embedding_bag_dense_backward", ""},
    {"aten::_index_put_impl_", "", "accumulate"},
    {"aten::avg_pool2d_backward", ""},
    {"aten::max_pool2d_with_indices_backward", ""},
    {"aten::col2im", ""},
    {"aten::segment_reduce", ""},
    {"aten::_convolution", "", "transposed"},
    {"aten::convolution_backward", "", kFloat16},
    {"aten::_coalesce", ""},
    {"aten::mm", "", kSparse},
    {"aten::addmm", "", kSparse},
    {"aten::bmm", "", kSparse},
};

bool is_true(
    const c10::FunctionSchema& schema,
    const Stack& given,
    std::string_view name) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (schema.arguments()[i].name() == name) {
      return given[i].isBool() && given[i].toBool();
    }
  }
  return false;
}

bool has(const Stack& given, c10::function_ref<bool(const Tensor&)> wanted) {
  return std::any_of(given.begin(), given.end(), [&](const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() &&
        wanted(value.toTensor());
  });
}

// The kernel refuses several.
bool is_of_one_type(const Stack& given) {
  std::optional<c10::ScalarType> type;
  return !has(given, [&](const Tensor& tensor) {
    if (!tensor.is_floating_point() && !tensor.is_complex()) {
      return false;
    }
    const auto first = type.value_or(tensor.scalar_type());
    type = first;
    return tensor.scalar_type() != first;
  });
}

// Kernels refuse a place that they write to twice, or read, too, or warn of it;
// of copies they would not know.
bool is_written_apart(const c10::FunctionSchema& schema, const Stack& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].isTensor() || !given[i].toTensor().defined() ||
        !aliasing::is_written(schema, schema.arguments()[i])) {
      continue;
    }
    const Tensor& written = given[i].toTensor();
    if (written.layout() != c10::kStrided) {
      continue;
    }
    if (at::has_internal_overlap(written) == at::MemOverlap::Yes) {
      return false;
    }
    const bool is_read = has(given, [&](const Tensor& other) {
      if (other.layout() != c10::kStrided || other.is_same(written)) {
        return false;
      }
      const auto status = at::get_overlap_status(written, other);
      return status == at::MemOverlapStatus::Full ||
          status == at::MemOverlapStatus::Partial;
    });
    if (is_read) {
      return false;
    }
  }
  return true;
}

bool applies(
    const SinglePrecision& known,
    const c10::FunctionSchema& schema,
    const Stack& given) {
  if (known.results.empty() &&
      (!is_of_one_type(given) || !is_written_apart(schema, given))) {
    return false;
  }
  if (known.only_if == kSparse) {
    return has(given, [](const Tensor& tensor) { return tensor.is_sparse(); });
  }
  if (known.only_if == kFloat16) {
    return has(given, [](const Tensor& tensor) {
      return tensor.scalar_type() == c10::kHalf;
    });
  }
  return known.only_if.empty() || is_true(schema, given, known.only_if);
}

const SinglePrecision* in_single_precision(
    const c10::FunctionSchema& schema,
    const Stack& given) {
  const std::string_view name = schema.name();
  for (const auto& known : kInSinglePrecision) {
    const bool is_prefix = known.name.back() == '*';
    const auto wanted =
        known.name.substr(0, known.name.size() - (is_prefix ? 1 : 0));
    if (name.substr(0, is_prefix ? wanted.size() : name.size()) != wanted) {
      continue;
    }
    return applies(known, schema, given) ? &known : nullptr;
  }
  return nullptr;
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

  Result type_of_result(size_t index) const {
    return known_ != nullptr && index < known_->results.size()
        ? static_cast<Result>(known_->results[index])
        : Result::Half;
  }

  Tensor back(const Tensor& tensor, Result type) const {
    if (!tensor.defined()) {
      return tensor;
    }
    for (const auto& [half, single, written] : crossed_) {
      if (written && tensor.is_same(single)) {
        return half;
      }
    }
    if (type_is_given_ || type == Result::Single) {
      return tensor;
    }
    if (tensor.scalar_type() == c10::kFloat) {
      return tensor.to(
          type == Result::Weights ? weights_.value_or(half_) : half_);
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
