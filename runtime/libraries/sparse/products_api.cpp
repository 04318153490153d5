// Products of a sparse matrix with a dense vector (SpMV) and matrix (SpMM).
#include <cusparse.h>

#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/products.h"
#include "runtime/libraries/sparse/submit.h"
#include "runtime/libraries/sparse/types.h"

namespace accelerator::sparse {
namespace {

/// One product: sum = op(a) * op(b).
template <typename W>
Dense<W> multiply(
    const Pattern& pattern,
    const std::vector<W>& values,
    std::int64_t rows,
    const Dense<W>& b) {
  Dense<W> sum(rows, b.columns);
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    W* const to = sum.row(pattern.rows[k]);
    const W* const from = b.row(pattern.columns[k]);
    const W value = values[k];
    for (std::int64_t j = 0; j < b.columns; ++j) {
      to[j] += value * from[j];
    }
  }
  return sum;
}

/// c = alpha * op(a) * op(b) + beta * c, of all batches.
struct Product {
  const char* function;
  cusparseOperation_t op_a;
  cusparseOperation_t op_b;
  Scalar alpha;
  Scalar beta;
  cusparseSpMatDescr a;
  cusparseDnMatDescr b;
  cusparseDnMatDescr c;

  template <typename W>
  bool run() const {
    for (int batch = 0; batch < c.batches; ++batch) {
      const int batch_of_a = a.batches == 1 ? 0 : batch;
      Pattern pattern;
      if (!read_pattern(function, a, batch_of_a, &pattern)) {
        return false;
      }
      std::vector<W> values = read_values<W>(a, batch_of_a, pattern);
      if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE) {
        pattern.transpose();
      }
      if (op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
        std::transform(
            values.begin(), values.end(), values.begin(), [](W value) {
              return conjugate(value);
            });
      }
      const Dense<W> right = read_dense<W>(b, b.batches == 1 ? 0 : batch, op_b);
      Dense<W> sum = multiply(pattern, values, c.rows, right);
      add_to_result(batch, sum);
    }
    return true;
  }

 private:
  template <typename W>
  void add_to_result(int batch, Dense<W>& sum) const {
    const W factor = alpha.get<W>();
    const W old = beta.get<W>();
    for (W& value : sum.values) {
      value *= factor;
    }
    // What there is already is not read where nothing of it is wanted.
    if (old != W()) {
      const Dense<W> before =
          read_dense<W>(c, batch, CUSPARSE_OPERATION_NON_TRANSPOSE);
      for (std::size_t i = 0; i < sum.values.size(); ++i) {
        sum.values[i] += old * before.values[i];
      }
    }
    write_dense(c, batch, sum);
  }
};

} // namespace

cusparseStatus_t submit_product(
    const char* function,
    cusparseHandle_t handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    cudaDataType compute,
    const void* alpha,
    const cusparseSpMatDescr& a,
    const cusparseDnMatDescr& b,
    const void* beta,
    const cusparseDnMatDescr& c) {
  const Product product{
      function,
      op_a,
      op_b,
      Scalar(handle, compute, alpha),
      Scalar(handle, compute, beta),
      a,
      b,
      c};
  return submit(
      function,
      handle,
      Memory(
          memory_of(a),
          memory_of(b),
          memory_of(c),
          product.alpha.extent(),
          product.beta.extent()),
      [product, compute] {
        return as_wide(
            compute, [&](auto zero) { return product.run<decltype(zero)>(); });
      });
}

namespace {

bool is_turned(cusparseOperation_t operation) {
  return operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
}

std::int64_t rows_of(cusparseOperation_t op, const cusparseSpMatDescr& a) {
  return is_turned(op) ? a.columns : a.rows;
}

std::int64_t columns_of(cusparseOperation_t op, const cusparseSpMatDescr& a) {
  return is_turned(op) ? a.rows : a.columns;
}

/// Which formats an algorithm is for; the default one is for all.
bool fits(cusparseSpMVAlg_t algorithm, cusparseFormat_t format) {
  switch (algorithm) {
    case CUSPARSE_SPMV_COO_ALG1:
    case CUSPARSE_SPMV_COO_ALG2:
      return format == CUSPARSE_FORMAT_COO;
    case CUSPARSE_SPMV_CSR_ALG1:
    case CUSPARSE_SPMV_CSR_ALG2:
      return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC;
    case CUSPARSE_SPMV_SELL_ALG1:
      return format == CUSPARSE_FORMAT_SLICED_ELLPACK;
    default:
      return true;
  }
}

bool is_algorithm(cusparseSpMVAlg_t algorithm) {
  return algorithm >= CUSPARSE_SPMV_ALG_DEFAULT &&
      algorithm <= CUSPARSE_SPMV_SELL_ALG1;
}

bool fits(cusparseSpMMAlg_t algorithm, cusparseFormat_t format) {
  switch (algorithm) {
    case CUSPARSE_SPMM_COO_ALG1:
    case CUSPARSE_SPMM_COO_ALG2:
    case CUSPARSE_SPMM_COO_ALG3:
    case CUSPARSE_SPMM_COO_ALG4:
      return format == CUSPARSE_FORMAT_COO;
    case CUSPARSE_SPMM_CSR_ALG1:
    case CUSPARSE_SPMM_CSR_ALG2:
    case CUSPARSE_SPMM_CSR_ALG3:
      return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC;
    case CUSPARSE_SPMM_BLOCKED_ELL_ALG1:
      return format == CUSPARSE_FORMAT_BLOCKED_ELL;
    default:
      return true;
  }
}

bool is_algorithm(cusparseSpMMAlg_t algorithm) {
  return (algorithm >= CUSPARSE_SPMM_ALG_DEFAULT &&
          algorithm <= CUSPARSE_SPMM_CSR_ALG2) ||
      algorithm == CUSPARSE_SPMM_CSR_ALG3 ||
      algorithm == CUSPARSE_SPMM_BLOCKED_ELL_ALG1;
}

/// A real matrix may be multiplied with complex vectors.
bool are_mixed(const Types& types, cudaDataType x) {
  const bool is_single = types.input == CUDA_R_32F && x == CUDA_C_32F;
  const bool is_double = types.input == CUDA_R_64F && x == CUDA_C_64F;
  return (is_single || is_double) && types.result == x && types.compute == x;
}

cusparseStatus_t check_spmv(
    const cusparseContext* handle,
    cusparseOperation_t op,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseDnVecDescr* x,
    const void* beta,
    const cusparseDnVecDescr* y,
    cudaDataType compute,
    cusparseSpMVAlg_t algorithm) {
  if (!are_there(handle, alpha, a, x, beta, y)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const Types types{a->type, y->type, compute};
  return check(
      {valid(is_operation(op)),
       valid(is_algorithm(algorithm)),
       valid(x->size == columns_of(op, *a)),
       valid(y->size == rows_of(op, *a)),
       supported(a->index_type != CUSPARSE_INDEX_16U),
       supported(
           a->format == CUSPARSE_FORMAT_CSR ||
           a->format == CUSPARSE_FORMAT_CSC ||
           a->format == CUSPARSE_FORMAT_COO ||
           a->format == CUSPARSE_FORMAT_SLICED_ELLPACK),
       supported(fits(algorithm, a->format)),
       supported(!a->is_triangular),
       supported(a->batches == 1),
       supported(
           (a->type == x->type && are_of_products(types)) ||
           are_mixed(types, x->type))});
}

cusparseStatus_t check_spmm(
    const cusparseContext* handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseDnMatDescr* b,
    const void* beta,
    const cusparseDnMatDescr* c,
    cudaDataType compute,
    cusparseSpMMAlg_t algorithm) {
  if (!are_there(handle, alpha, a, b, beta, c)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const bool is_ell = a->format == CUSPARSE_FORMAT_BLOCKED_ELL;
  const auto fits_result = [c](int batches) {
    return batches == 1 || batches == c->batches;
  };
  return check(
      {valid(is_operation(op_a) && is_operation(op_b)),
       valid(is_algorithm(algorithm)),
       valid(rows_of(op_a, *a) == c->rows),
       valid(columns_of(op_a, *a) == (is_turned(op_b) ? b->columns : b->rows)),
       valid((is_turned(op_b) ? b->rows : b->columns) == c->columns),
       supported(a->index_type != CUSPARSE_INDEX_16U),
       supported(
           is_ell || a->format == CUSPARSE_FORMAT_CSR ||
           a->format == CUSPARSE_FORMAT_CSC ||
           a->format == CUSPARSE_FORMAT_COO),
       supported(fits(algorithm, a->format)),
       supported(!is_ell || !is_turned(op_a)),
       supported(!a->is_triangular),
       supported(fits_result(a->batches) && fits_result(b->batches)),
       supported(
           c->batches == 1 || (!is_ell && algorithm != CUSPARSE_SPMM_CSR_ALG3)),
       supported(a->type == b->type),
       supported(are_of_products({a->type, c->type, compute}))});
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(10, cusparseSpMV_bufferSize, CheckedBy<check_spmv>::size_work)
ENTRY_POINT(10, cusparseSpMV_preprocess, CheckedBy<check_spmv>::prepare)
ENTRY_POINT(11, cusparseSpMM_bufferSize, CheckedBy<check_spmm>::size_work)
ENTRY_POINT(11, cusparseSpMM_preprocess, CheckedBy<check_spmm>::prepare)

extern "C" {

cusparseStatus_t cusparseSpMV(
    cusparseHandle_t handle,
    cusparseOperation_t op,
    const void* alpha,
    cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t x,
    const void* beta,
    cusparseDnVecDescr_t y,
    cudaDataType compute,
    cusparseSpMVAlg_t algorithm,
    void*) {
  const cusparseStatus_t status =
      check_spmv(handle, op, alpha, a, x, beta, y, compute, algorithm);
  return status != CUSPARSE_STATUS_SUCCESS
      ? status
      : submit_product(
            __func__,
            handle,
            op,
            CUSPARSE_OPERATION_NON_TRANSPOSE,
            compute,
            alpha,
            *a,
            as_matrix(*x),
            beta,
            as_matrix(*y));
}

cusparseStatus_t cusparseSpMM(
    cusparseHandle_t handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    cusparseConstSpMatDescr_t a,
    cusparseConstDnMatDescr_t b,
    const void* beta,
    cusparseDnMatDescr_t c,
    cudaDataType compute,
    cusparseSpMMAlg_t algorithm,
    void*) {
  const cusparseStatus_t status =
      check_spmm(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm);
  return status != CUSPARSE_STATUS_SUCCESS
      ? status
      : submit_product(
            __func__, handle, op_a, op_b, compute, alpha, *a, *b, beta, *c);
}

} // extern "C"
