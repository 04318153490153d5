// The table of operators, and in which calls each of its rows holds.
#include "router/operators/calls/in_single_precision.h"

#include "router/aliasing/arguments.h"
#include "router/operators/calls/name_pattern.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using torch::jit::Stack;

bool any_tensor(
    const Stack& given,
    c10::function_ref<bool(const Tensor&)> wanted) {
  const auto matches = [&](const Tensor& tensor) {
    return tensor.defined() && wanted(tensor);
  };
  return std::any_of(given.begin(), given.end(), [&](const c10::IValue& value) {
    if (value.isTensorList()) {
      const auto tensors = value.toTensorVector();
      return std::any_of(tensors.begin(), tensors.end(), matches);
    }
    return value.isTensor() && matches(value.toTensor());
  });
}

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

bool accumulates(const c10::FunctionSchema& schema, const Stack& given) {
  return is_true(schema, given, "accumulate");
}

bool is_transposed(const c10::FunctionSchema& schema, const Stack& given) {
  return is_true(schema, given, "transposed");
}

bool has_sparse(const c10::FunctionSchema&, const Stack& given) {
  return any_tensor(
      given, [](const Tensor& tensor) { return tensor.is_sparse(); });
}

bool has_float16(const c10::FunctionSchema&, const Stack& given) {
  return any_tensor(given, [](const Tensor& tensor) {
    return tensor.scalar_type() == c10::kHalf;
  });
}

// A tensor that stands for a number: it does not choose the result's type.
bool is_number(const Tensor& tensor) {
  return tensor.is_cpu() && tensor.dim() == 0;
}

// Whether a number stays what it is in a type of half precision.
bool is_exact(double number, c10::ScalarType half) {
  const auto single = static_cast<float>(number);
  const float rounded = half == c10::kHalf
      ? static_cast<float>(c10::Half(single))
      : static_cast<float>(c10::BFloat16(single));
  return static_cast<double>(rounded) == number || std::isnan(number);
}

bool is_rounded(const c10::IValue& value, c10::ScalarType half) {
  if (value.isDouble()) {
    return !is_exact(value.toDouble(), half);
  }
  if (value.isInt()) {
    return !is_exact(static_cast<double>(value.toInt()), half);
  }
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    return tensor.defined() && is_number(tensor) && !tensor.is_complex() &&
        !is_exact(tensor.item<double>(), half);
  }
  if (value.isList() && !value.isTensorList()) {
    const auto numbers = value.toListRef();
    return std::any_of(numbers.begin(), numbers.end(), [&](const auto& number) {
      return is_rounded(number, half);
    });
  }
  return false;
}

// The CPU rounds numbers to the type of the tensors first.
bool rounds_a_number(const c10::FunctionSchema&, const Stack& given) {
  std::optional<c10::ScalarType> half;
  any_tensor(given, [&](const Tensor& tensor) {
    const auto type = tensor.scalar_type();
    if (!is_number(tensor) && (type == c10::kHalf || type == c10::kBFloat16)) {
      half = type;
    }
    return half.has_value();
  });
  return half &&
      std::any_of(given.begin(), given.end(), [&](const c10::IValue& value) {
           return is_rounded(value, *half);
         });
}

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
    {"aten::_index_put_impl_", "", &accumulates},
    {"aten::avg_pool2d_backward", ""},
    {"aten::max_pool2d_with_indices_backward", ""},
    {"aten::_adaptive_avg_pool3d*", ""},
    {"aten::col2im", ""},
    {"aten::segment_reduce", ""},
    {"aten::_convolution", "", &is_transposed},
    {"aten::convolution_backward", "", &has_float16},
    {"aten::_coalesce", ""},
    {"aten::mm", "", &has_sparse},
    {"aten::addmm", "", &has_sparse},
    {"aten::bmm", "", &has_sparse},
    // The CPU computes places in half precision, those of memory, too.
    {"aten::grid_sampler_*", ""},
    {"aten::fractional_max_pool2d", ""},
    {"aten::fractional_max_pool3d", ""},
    {"aten::add", "", &rounds_a_number},
    {"aten::add_", "", &rounds_a_number},
    {"aten::sub", "", &rounds_a_number},
    {"aten::sub_", "", &rounds_a_number},
    {"aten::rsub", "", &rounds_a_number},
    {"aten::_foreach_add", "", &rounds_a_number},
    {"aten::_foreach_add_", "", &rounds_a_number},
    {"aten::_foreach_sub", "", &rounds_a_number},
    {"aten::_foreach_sub_", "", &rounds_a_number},
    {"aten::logit", ""},
    {"aten::logit_", ""},
};

// The kernel refuses several, or gives what came in single precision as such.
bool is_of_one_type(const Stack& given) {
  std::optional<c10::ScalarType> type;
  return !any_tensor(given, [&](const Tensor& tensor) {
    if (is_number(tensor) ||
        (!tensor.is_floating_point() && !tensor.is_complex())) {
      return false;
    }
    const auto first = type.value_or(tensor.scalar_type());
    type = first;
    return tensor.scalar_type() != first;
  });
}

// Kernels refuse a place that they write to twice, or read, too, or warn of it;
// of copies they would not know.
bool is_written_apart(const Tensor& written, const Stack& given) {
  if (written.layout() != c10::kStrided) {
    return true;
  }
  if (at::has_internal_overlap(written) == at::MemOverlap::Yes) {
    return false;
  }
  return !any_tensor(given, [&](const Tensor& other) {
    if (other.layout() != c10::kStrided || other.is_same(written)) {
      return false;
    }
    const auto status = at::get_overlap_status(written, other);
    return status == at::MemOverlapStatus::Full ||
        status == at::MemOverlapStatus::Partial;
  });
}

// The bytes of a tensor of a list, from the first to behind the last.
std::pair<std::uintptr_t, std::uintptr_t> extent(const Tensor& tensor) {
  const auto first = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
  int64_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    last += (tensor.size(i) - 1) * tensor.stride(i);
  }
  return {first, first + (last + 1) * tensor.element_size()};
}

// Whether no two tensors of a list share memory: kernels go from one to the
// next, and each sees what was written before.
bool are_written_apart(const std::vector<Tensor>& written) {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> extents;
  for (const Tensor& tensor : written) {
    if (tensor.layout() != c10::kStrided) {
      return false;
    }
    if (tensor.numel() != 0) {
      extents.push_back(extent(tensor));
    }
  }
  std::sort(extents.begin(), extents.end());
  return std::adjacent_find(
             extents.begin(), extents.end(), [](const auto& a, const auto& b) {
               return b.first < a.second;
             }) == extents.end();
}

bool is_written_apart(const c10::FunctionSchema& schema, const Stack& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!aliasing::is_written(schema, schema.arguments()[i])) {
      continue;
    }
    const c10::IValue& value = given[i];
    if (value.isTensorList()) {
      if (!are_written_apart(value.toTensorVector())) {
        return false;
      }
    } else if (
        value.isTensor() && value.toTensor().defined() &&
        !is_written_apart(value.toTensor(), given)) {
      return false;
    }
  }
  return true;
}

} // namespace

const SinglePrecision* in_single_precision(
    const c10::FunctionSchema& schema,
    const Stack& given) {
  const std::string_view name = schema.name();
  const auto* known = std::find_if(
      std::begin(kInSinglePrecision),
      std::end(kInSinglePrecision),
      [&](const SinglePrecision& row) { return is_named(row.name, name); });
  if (known == std::end(kInSinglePrecision)) {
    return nullptr;
  }
  if (known->when != nullptr && !known->when(schema, given)) {
    return nullptr;
  }
  const bool crosses = !known->results.empty() ||
      (is_of_one_type(given) && is_written_apart(schema, given));
  return crosses ? known : nullptr;
}

} // namespace torch_cuda::operators
