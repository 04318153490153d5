// A tensor has the values of all rows, and the places behind them. The order of
// the places is ours: no other library reads them.
#include "router/operators/kernels/products/cusparselt.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"
#include "router/operators/kernels/products/tensor_cores.h"
#include "router/operators/kernels/products/two_of_four.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <optional>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::ScalarType;

// How many numbers a compressed row has for 16 of a dense one.
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
  const auto most =
      dense.to(c10::kFloat)
          .ne(0)
          .reshape({rows, k / two_of_four::kGroup, two_of_four::kGroup})
          .sum(-1)
          .gt(two_of_four::kGroup / 2)
          .any();
  TORCH_CHECK(
      !most.item<bool>(),
      kName,
      ": of each four numbers in a row two must be zero, and there are four "
      "with more. Prune the matrix first.");
  const auto kept = two_of_four::keep(dense);
  const auto pairs =
      kept.places.reshape({rows, k / two_of_four::kGroup / 2, 2});
  const auto places =
      pairs.select(-1, 0)
          .add(pairs.select(-1, 1), 1 << two_of_four::kBitsOfGroup)
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
  return two_of_four::fill_up(
      {bytes.slice(0, 0, of_values).view(type).reshape({rows, k / 2}),
       at::stack(
           {places.bitwise_and(15),
            places.bitwise_right_shift(two_of_four::kBitsOfGroup)},
           -1)
           .reshape({rows, k / two_of_four::kGroup})});
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
  auto result = tensor_cores::product(
      decompress(kName, compressed, dense.size(0)), dense);
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
  result = tensor_cores::rounded(result, type.value_or(dense.scalar_type()));
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

void route_cusparselt() {
  register_function("aten::_cslt_compress", "", &compress);
  register_one_of(
      "aten::_cslt_sparse_mm",
      "",
      &cusparselt_mm<int64_t>,
      &cusparselt_mm<bool>);
  register_function("aten::_cslt_sparse_mm_search", "", &cusparselt_search);
}

} // namespace torch_cuda::operators
