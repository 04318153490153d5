// Filled up with the zeros again, and multiplied by the host.
#include "accelerator/operators/kernels/products/semi_structured.h"

#include "accelerator/operators/dispatch/registration.h"
#include "accelerator/operators/kernels/optional_tensor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::Scalar;
using c10::ScalarType;

// Of four numbers two are kept; of two in single precision one, which counts as
// two. What is kept is said by their places among the four, two bits each.
constexpr int64_t kGroup = 4;
constexpr int64_t kBitsOfGroup = 4;

int64_t group_of(ScalarType type) {
  return type == c10::kFloat ? kGroup / 2 : kGroup;
}

struct Kept {
  Tensor values; // [rows, k / 2]
  Tensor places; // [rows, groups], of int64: first place, and four times the
                 // second
};

// Where fewer than two differ from zero, zeros are kept, and where more do, the
// first: as the published encoding has it
// (torch.sparse._semi_structured_conversions).
Kept keep(const Tensor& dense) {
  const int64_t rows = dense.size(0);
  const int64_t k = dense.size(1);
  const auto type = dense.scalar_type();
  const int64_t size = group_of(type);
  const auto groups = dense.reshape({rows, k / size, size});
  const auto filled = groups.to(c10::kFloat).ne(0);
  const auto is_filled = [&](int64_t i) {
    return filled.select(-1, size == kGroup ? i : i / 2);
  };
  const auto m0 = is_filled(0);
  const auto m1 = is_filled(1);
  const auto m3 = is_filled(3);
  const auto only_second = m0.logical_not().logical_and_(m1);
  const auto neither = m0.logical_or(m1).logical_not_();
  const auto integer = [](const Tensor& flags) { return flags.to(c10::kLong); };
  const auto first = integer(only_second).add_(integer(neither), 2);
  const auto second =
      integer(m0.logical_and(m1).logical_or_(neither).logical_or_(m3))
          .add_(integer(only_second.logical_or(m1.logical_not())), 2);
  // Numbers of 8 bits are moved as integers.
  const auto movable =
      c10::elementSize(type) == 1 ? groups.view(c10::kChar) : groups;
  const auto values = size == kGroup
      ? movable.gather(-1, at::stack({first, second}, -1))
      : movable.gather(-1, first.floor_divide(2).unsqueeze(-1));
  return {values.reshape({rows, k / 2}).view(type), first.add(second, kGroup)};
}

Tensor fill_up(const Kept& kept) {
  const auto type = kept.values.scalar_type();
  const int64_t rows = kept.values.size(0);
  const int64_t k = kept.values.size(1) * 2;
  const int64_t size = group_of(type);
  const auto first = kept.places.bitwise_and(3);
  const auto second = kept.places.bitwise_right_shift(2);
  const auto places = size == kGroup ? at::stack({first, second}, -1)
                                     : first.floor_divide(2).unsqueeze(-1);
  const auto movable = c10::elementSize(type) == 1
      ? kept.values.contiguous().view(c10::kChar)
      : kept.values;
  return at::zeros({rows, k / size, size}, movable.options())
      .scatter_(-1, places, movable.reshape({rows, k / size, size / 2}))
      .reshape({rows, k})
      .view(type);
}

// CUTLASS has the places of several groups in an integer, and the integers in
// an order of its own: rows that are 8 apart are neighbours, blocks of two by
// two are transposed, and columns lie in pairs one behind the other.
struct Order {
  ScalarType type;
  int64_t groups; // of an integer
  int64_t rows; // that are mixed
  explicit Order(ScalarType of)
      : type(of),
        groups(static_cast<int64_t>(c10::elementSize(of)) * 8 / kBitsOfGroup),
        rows(of == c10::kShort ? 32 : 16) {}

  void check(const char* name, int64_t all_rows, int64_t columns) const {
    TORCH_CHECK(
        all_rows % rows == 0 && columns % 2 == 0 && columns > 0,
        name,
        ": rows must be a multiple of ",
        rows,
        ", and columns of ",
        2 * groups * kGroup,
        "; found are ",
        all_rows,
        " rows and ",
        columns * groups * kGroup,
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
      all.push_back(i * kBitsOfGroup);
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
  const int64_t groups = dense.size(1) / group_of(type);
  TORCH_CHECK(
      dense.size(1) % (group_of(type) * order.groups * 2) == 0,
      kName,
      ": columns must be a multiple of ",
      group_of(type) * order.groups * 2,
      ", found are ",
      dense.size(1));
  order.check(kName, rows, groups / order.groups);
  const auto kept = keep(dense);
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
  const int64_t groups = values.size(1) * 2 / group_of(values.scalar_type());
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
  return fill_up({values, places});
}

// Integers are summed up in 32 bits, all others in single precision. CUDA has
// no products of matrices of integers; numbers of 64 bits are exact, too.
Tensor product(const Tensor& left, const Tensor& right) {
  const bool is_integral = left.scalar_type() == c10::kChar;
  const auto type = is_integral ? c10::kDouble : c10::kFloat;
  const auto result = at::mm(left.to(type), right.to(type));
  return is_integral ? result.to(c10::kInt) : result;
}

// Tensor cores limit what is too large for 8 bits.
Tensor rounded(const Tensor& result, ScalarType type) {
  if (type == c10::kChar) {
    return (result.is_floating_point() ? result.round() : result)
        .clamp(-128, 127)
        .to(type);
  }
  return result.to(type);
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
  return rounded(
      product(from_cutlass(kName, values, meta), other),
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
  auto result = product(from_cutlass(kName, values, meta), other);
  result =
      result.mul(alpha).add(addend.to(result.scalar_type()).unsqueeze(1), beta);
  return rounded(result, type.value_or(other.scalar_type()));
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
  auto result = product(from_cutlass(kName, values, meta), rows.t()).t();
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
  return rounded(result, type.value_or(input.scalar_type()))
      .contiguous()
      .reshape(sizes);
}

// cuSPARSELt's tensors have the values of all rows, and the places behind them.
// The order of the places is ours: no other library reads them.
int64_t sixteenths(ScalarType type) {
  return c10::elementSize(type) == 1 ? 10 : 9;
}

bool is_cusparselts(ScalarType type) {
  return c10::elementSize(type) == 1
      ? type == c10::kChar || type == c10::kFloat8_e4m3fn
      : type == c10::kHalf || type == c10::kBFloat16;
}

Tensor compress(const Tensor& dense) {
  constexpr auto kName = "_cslt_compress";
  const auto type = dense.scalar_type();
  TORCH_CHECK(
      dense.dim() == 2 && is_cusparselts(type) && dense.size(1) % 16 == 0,
      kName,
      ": a matrix of int8, float16, bfloat16 or float8_e4m3fn is needed, whose "
      "columns are a multiple of 16; found sizes ",
      dense.sizes(),
      " of ",
      type);
  const int64_t rows = dense.size(0);
  const int64_t k = dense.size(1);
  const auto most = dense.to(c10::kFloat)
                        .ne(0)
                        .reshape({rows, k / kGroup, kGroup})
                        .sum(-1)
                        .gt(kGroup / 2)
                        .any();
  TORCH_CHECK(
      !most.item<bool>(),
      kName,
      ": of each four numbers in a row two must be zero, and there are four "
      "with more. Prune the matrix first.");
  const auto kept = keep(dense);
  const auto pairs = kept.places.reshape({rows, k / kGroup / 2, 2});
  const auto places = pairs.select(-1, 0)
                          .add(pairs.select(-1, 1), 1 << kBitsOfGroup)
                          .to(c10::kByte);
  const auto bytes = at::cat(
      {kept.values.contiguous().view(c10::kByte).reshape({-1}),
       places.reshape({-1})});
  return bytes.view(type).reshape({rows, k * sixteenths(type) / 16});
}

Tensor decompress(const char* name, const Tensor& compressed, int64_t k) {
  const auto type = compressed.scalar_type();
  const int64_t rows = compressed.size(0);
  TORCH_CHECK(
      is_cusparselts(type) && k % 16 == 0 &&
          compressed.numel() == rows * k * sixteenths(type) / 16,
      name,
      ": a tensor of sizes ",
      compressed.sizes(),
      " of ",
      type,
      " is not what _cslt_compress makes of ",
      k,
      " columns");
  const auto bytes = compressed.contiguous().view(c10::kByte).reshape({-1});
  const int64_t of_values =
      rows * k / 2 * static_cast<int64_t>(c10::elementSize(type));
  const auto places = bytes.slice(0, of_values).to(c10::kLong);
  return fill_up(
      {bytes.slice(0, 0, of_values).view(type).reshape({rows, k / 2}),
       at::stack(
           {places.bitwise_and(15), places.bitwise_right_shift(kBitsOfGroup)},
           -1)
           .reshape({rows, k / kGroup})});
}

// The last argument says how work is split: a flag in PyTorch 2.6, and a number
// since.
template <class Split>
Tensor cusparselt_mm(
    const Tensor& compressed,
    const Tensor& dense,
    const OptionalTensor& bias,
    const OptionalTensor& alpha,
    std::optional<ScalarType> type,
    bool transpose_result,
    int64_t /*alg_id*/,
    int64_t /*split_k*/,
    Split /*split_k_mode*/) {
  constexpr auto kName = "_cslt_sparse_mm";
  TORCH_CHECK(
      dense.dim() == 2 && compressed.scalar_type() == dense.scalar_type(),
      kName,
      ": a matrix of ",
      compressed.scalar_type(),
      " is needed, found are ",
      dense.dim(),
      " dimensions of ",
      dense.scalar_type());
  TORCH_CHECK(
      !type || *type == dense.scalar_type() ||
          c10::elementSize(dense.scalar_type()) == 1,
      kName,
      ": out_dtype is taken for matrices of 8 bits only, found ",
      type.value_or(dense.scalar_type()),
      " for ",
      dense.scalar_type());
  auto result = product(decompress(kName, compressed, dense.size(0)), dense);
  const auto of_rows = [&](const Tensor& numbers) {
    TORCH_CHECK(
        numbers.numel() == 1 || numbers.numel() == result.size(0),
        kName,
        ": one number, or ",
        result.size(0),
        " of them are needed, found are ",
        numbers.numel());
    return numbers.reshape({-1, 1});
  };
  if (has(alpha)) {
    result = result.mul(of_rows(alpha->to(c10::kFloat)));
  }
  if (has(bias)) {
    result = result.add(of_rows(bias->to(c10::kFloat)));
  }
  result = rounded(result, type.value_or(dense.scalar_type()));
  return transpose_result ? result.t().contiguous() : result;
}

// There is one way only.
int64_t cusparselt_search(
    const Tensor& /*compressed*/,
    const Tensor& /*dense*/,
    const OptionalTensor& /*bias*/,
    const OptionalTensor& /*alpha*/,
    std::optional<ScalarType> /*type*/,
    bool /*transpose_result*/) {
  return 0;
}

} // namespace

void route_semi_structured() {
  register_function("aten::_to_sparse_semi_structured", "", &to_cutlass);
  register_function("aten::_sparse_semi_structured_mm", "", &cutlass_mm);
  register_function("aten::_sparse_semi_structured_addmm", "", &cutlass_addmm);
  register_function(
      "aten::_sparse_semi_structured_linear", "", &cutlass_linear);
  register_function("aten::_cslt_compress", "", &compress);
  register_one_of(
      "aten::_cslt_sparse_mm",
      "",
      &cusparselt_mm<int64_t>,
      &cusparselt_mm<bool>);
  register_function("aten::_cslt_sparse_mm_search", "", &cusparselt_search);
}

} // namespace torch_cuda::operators
