// Matrix products of the graph API.
#include "runtime/libraries/dnn/compute/products.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

/// Whether an operand's batches can be repeated to be those of the result.
bool fits(const Dims& operand, const Dims& result) {
  for (std::size_t i = 0; i + 2 < result.size(); ++i) {
    if (operand[i] <= 0 || result[i] % operand[i] != 0) {
      return false;
    }
  }
  return true;
}

/// A size for each batch, out of a tensor; of one element: the same for all.
template <typename T>
std::function<std::int64_t(std::int64_t)> sizes_of(const Array<T>* sizes) {
  if (sizes == nullptr) {
    return {};
  }
  return [sizes](std::int64_t batch) {
    return static_cast<std::int64_t>((*sizes)[sizes->size() == 1 ? 0 : batch]);
  };
}

} // namespace

bool add_product(Builder& builder, const State& operation) {
  if (operation.kind != CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    return false;
  }
  const State& how = operation.child(
      CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  builder.computes_in(how.get<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE));
  const double padding = how.number(CUDNN_ATTR_MATMUL_PADDING_VALUE, 0);
  require_supported(
      operation.get<std::int64_t>(
          CUDNN_ATTR_OPERATION_MATMUL_IRREGULARLY_STRIDED_BATCH_COUNT, 1) == 1,
      "irregularly strided batches are not supported");
  const auto a = builder.tensor(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
  const auto b = builder.tensor(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
  const auto c = builder.tensor(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  const auto m = builder.optional(
      operation, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC);
  const auto n = builder.optional(
      operation, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC);
  const auto k = builder.optional(
      operation, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC);
  const Dims a_dims = builder.dims(a);
  const Dims b_dims = builder.dims(b);
  const Dims dims = builder.dims(c);
  const std::size_t rank = dims.size();
  require_supported(rank >= 2, "matrices have two dimensions at least");
  require_valid(
      a_dims.size() == rank && b_dims.size() == rank &&
          a_dims[rank - 2] == dims[rank - 2] &&
          b_dims[rank - 1] == dims[rank - 1] &&
          a_dims[rank - 1] == b_dims[rank - 2] && fits(a_dims, dims) &&
          fits(b_dims, dims),
      "the matrices of a product do not fit each other");
  for (const std::int64_t size : {m, n, k}) {
    require_valid(
        size < 0 || count_of(builder.dims(size)) == 1 ||
            count_of(builder.dims(size)) == dims[0],
        "sizes of matrices have one element for each batch");
  }
  builder.add({a, b, m, n, k}, {c}, [=](auto& run) {
    const ProductSizes sizes{
        sizes_of(run.optional(m)),
        sizes_of(run.optional(n)),
        sizes_of(run.optional(k))};
    const auto& left = run.in(a);
    using T = std::decay_t<decltype(left[0])>;
    run.out(c, matmul(left, run.in(b), dims, sizes, static_cast<T>(padding)));
  });
  return true;
}

} // namespace accelerator::dnn
