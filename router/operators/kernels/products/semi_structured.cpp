// Filled up with the zeros again, and multiplied by the host.
#include "router/operators/kernels/products/semi_structured.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"
#include "router/operators/kernels/products/tensor_cores.h"
#include "router/operators/kernels/products/two_of_four.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::Scalar;
using c10::ScalarType;

// CUTLASS has the places of several groups in an integer, and the integers in
// an order of its own: rows that are 8 apart are neighbours, blocks of two by
// two are transposed, and columns lie in pairs one behind the other.
struct Order {
  ScalarType type;
  int64_t groups; // of an integer
  int64_t rows; // that are mixed
  explicit Order(ScalarType of)
      : type(of),
        groups(
            static_cast<int64_t>(c10::elementSize(of)) * 8 /
            two_of_four::kBitsOfGroup),
        rows(of == c10::kShort ? 32 : 16) {}

  void check(const char* name, int64_t all_rows, int64_t columns) const {
    TORCH_CHECK(
        all_rows % rows == 0 && columns % 2 == 0 && columns > 0,
        name,
        ": rows must be a multiple of ",
        rows,
        ", and columns of ",
        2 * groups * two_of_four::kGroup,
        "; found are ",
        all_rows,
        " rows and ",
        columns * groups * two_of_four::kGroup,
        " columns, counted as numbers of 16 bits");
  }

  Tensor transposed_blocks(const Tensor& integers) const {
    const int64_t high = integers.size(0);
    const int64_t wide = integers.size(1);
    return integers.reshape({high / 2, 2, wide / 2, 2})
        .transpose(1, 3)
        .reshape({high, wide});
  }

  // Both ways: of [rows, columns].
  Tensor mix(const Tensor& integers) const {
    const int64_t high = integers.size(0);
    const int64_t wide = integers.size(1);
    const auto rows_mixed = integers.reshape({high / rows, rows / 8, 8, wide})
                                .transpose(1, 2)
                                .reshape({high, wide});
    return transposed_blocks(rows_mixed)
        .reshape({high, wide / 2, 2})
        .transpose(0, 1)
        .reshape({high, wide});
  }
  Tensor sort(const Tensor& mixed, int64_t high, int64_t wide) const {
    const auto blocks = mixed.reshape({wide / 2, high, 2})
                            .transpose(0, 1)
                            .reshape({high, wide});
    return transposed_blocks(blocks)
        .reshape({high / rows, 8, rows / 8, wide})
        .transpose(1, 2)
        .reshape({high, wide});
  }

  Tensor shifts(const Tensor& like) const {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < groups; ++i) {
      all.push_back(i * two_of_four::kBitsOfGroup);
    }
    return at::tensor(all, like.options().dtype(c10::kLong));
  }
};

std::tuple<Tensor, Tensor> to_cutlass(const Tensor& dense) {
  constexpr auto kName = "_to_sparse_semi_structured";
  const auto type = dense.scalar_type();
  TORCH_CHECK(
      dense.dim() == 2 &&
          (type == c10::kChar || type == c10::kHalf || type == c10::kBFloat16 ||
           type == c10::kFloat),
      kName,
      ": a matrix of int8, float16, bfloat16 or float32 is needed, found ",
      dense.dim(),
      " dimensions of ",
      type);
  const Order order(type == c10::kChar ? c10::kInt : c10::kShort);
  const int64_t rows = dense.size(0);
  const int64_t groups = dense.size(1) / two_of_four::group_of(type);
  TORCH_CHECK(
      dense.size(1) % (two_of_four::group_of(type) * order.groups * 2) == 0,
      kName,
      ": columns must be a multiple of ",
      two_of_four::group_of(type) * order.groups * 2,
      ", found are ",
      dense.size(1));
  order.check(kName, rows, groups / order.groups);
  const auto kept = two_of_four::keep(dense);
  const auto integers =
      kept.places.reshape({rows, groups / order.groups, order.groups})
          .bitwise_left_shift(order.shifts(dense))
          .sum(-1)
          .to(order.type);
  return {kept.values, order.mix(integers)};
}

// `meta` has two dimensions, or three in strides that are those of memory.
Tensor from_cutlass(
    const char* name,
    const Tensor& values,
    const Tensor& meta) {
  TORCH_CHECK(
      values.dim() == 2 && (meta.dim() == 2 || meta.dim() == 3) &&
          meta.scalar_type() ==
              (values.scalar_type() == c10::kChar ? c10::kInt : c10::kShort),
      name,
      ": a matrix and its places are needed, found sizes ",
      values.sizes(),
      " of ",
      values.scalar_type(),
      " and ",
      meta.sizes(),
      " of ",
      meta.scalar_type());
  const Order order(meta.scalar_type());
  const int64_t rows = values.size(0);
  const int64_t groups =
      values.size(1) * 2 / two_of_four::group_of(values.scalar_type());
  const int64_t columns = groups / order.groups;
  TORCH_CHECK(
      meta.numel() == rows * columns && columns * order.groups == groups,
      name,
      ": ",
      meta.numel(),
      " integers of places do not belong to values of sizes ",
      values.sizes());
  order.check(name, rows, columns);
  const auto in_memory =
      (meta.dim() == 3 ? meta.permute({2, 0, 1}) : meta).reshape({-1});
  const auto places = order.sort(in_memory, rows, columns)
                          .to(c10::kLong)
                          .unsqueeze(-1)
                          .bitwise_right_shift(order.shifts(meta))
                          .bitwise_and(15)
                          .reshape({rows, groups});
  return two_of_four::fill_up({values, places});
}

void check_sizes(const char* name, const Tensor& values, const Tensor& other) {
  TORCH_CHECK(
      other.dim() == 2 && values.size(1) * 2 == other.size(0),
      name,
      ": half of ",
      other.size(0),
      " rows of the second matrix are needed as columns of the first, found "
      "are ",
      values.size(1));
  TORCH_CHECK(
      values.scalar_type() == other.scalar_type(),
      name,
      ": matrices of the same type are needed, found ",
      values.scalar_type(),
      " and ",
      other.scalar_type());
}

void check_result(
    const char* name,
    ScalarType type,
    std::optional<ScalarType> asked) {
  TORCH_CHECK(
      !asked || *asked == type || (type == c10::kChar && *asked == c10::kInt),
      name,
      ": out_dtype is taken as int32 for int8 only, found ",
      asked.value_or(type),
      " for ",
      type);
}

Tensor cutlass_mm(
    const Tensor& values,
    const Tensor& meta,
    const Tensor& other,
    std::optional<ScalarType> type) {
  constexpr auto kName = "_sparse_semi_structured_mm";
  check_sizes(kName, values, other);
  check_result(kName, other.scalar_type(), type);
  return tensor_cores::rounded(
      tensor_cores::product(from_cutlass(kName, values, meta), other),
      type.value_or(other.scalar_type()));
}

// What is added is one number for each row.
Tensor cutlass_addmm(
    const Tensor& addend,
    const Tensor& values,
    const Tensor& meta,
    const Tensor& other,
    const Scalar& alpha,
    const Scalar& beta,
    std::optional<ScalarType> type) {
  constexpr auto kName = "_sparse_semi_structured_addmm";
  check_sizes(kName, values, other);
  check_result(kName, other.scalar_type(), type);
  TORCH_CHECK(
      addend.dim() == 1 && addend.size(0) == values.size(0),
      kName,
      ": what is added must have ",
      values.size(0),
      " numbers, found are sizes ",
      addend.sizes());
  auto result = tensor_cores::product(from_cutlass(kName, values, meta), other);
  result =
      result.mul(alpha).add(addend.to(result.scalar_type()).unsqueeze(1), beta);
  return tensor_cores::rounded(result, type.value_or(other.scalar_type()));
}

// input * weight^T
Tensor cutlass_linear(
    const Tensor& input,
    const Tensor& values,
    const Tensor& meta,
    const OptionalTensor& bias,
    std::optional<std::string_view> activation,
    std::optional<ScalarType> type) {
  constexpr auto kName = "_sparse_semi_structured_linear";
  check_result(kName, input.scalar_type(), type);
  const auto rows = input.reshape({-1, input.size(-1)});
  check_sizes(kName, values, rows.t());
  auto result =
      tensor_cores::product(from_cutlass(kName, values, meta), rows.t()).t();
  if (has(bias)) {
    TORCH_CHECK(
        bias->numel() == values.size(0),
        kName,
        ": a bias of ",
        values.size(0),
        " numbers is needed, found are ",
        bias->numel());
    result = result.add(bias->to(result.scalar_type()));
  }
  const auto which = activation.value_or("none");
  TORCH_CHECK(
      which == "none" || which == "relu" || which == "silu",
      kName,
      ": the activation \"",
      which,
      "\" is none of \"none\", \"relu\" and \"silu\"");
  if (which == "relu") {
    result = result.relu();
  } else if (which == "silu") {
    result = result.mul(result.to(c10::kFloat).sigmoid());
  }
  auto sizes = input.sizes().vec();
  sizes.back() = values.size(0);
  return tensor_cores::rounded(result, type.value_or(input.scalar_type()))
      .contiguous()
      .reshape(sizes);
}

} // namespace

void route_semi_structured() {
  register_function("aten::_to_sparse_semi_structured", "", &to_cutlass);
  register_function("aten::_sparse_semi_structured_mm", "", &cutlass_mm);
  register_function("aten::_sparse_semi_structured_addmm", "", &cutlass_addmm);
  register_function(
      "aten::_sparse_semi_structured_linear", "", &cutlass_linear);
}

} // namespace torch_cuda::operators
