// The entries of a product of dense matrices that a sparse matrix has (SDDMM).
#include <cusparse.h>

#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"
#include "runtime/libraries/sparse/types.h"

namespace accelerator::sparse {
namespace {

/// c = alpha * op(a) * op(b) + beta * c, where c has entries.
struct SampledProduct {
  const char* function;
  cusparseOperation_t op_a;
  cusparseOperation_t op_b;
  Scalar alpha;
  Scalar beta;
  cusparseDnMatDescr a;
  cusparseDnMatDescr b;
  cusparseSpMatDescr c;

  template <typename W>
  bool run() const {
    for (int batch = 0; batch < c.batches; ++batch) {
      Pattern pattern;
      if (!read_pattern(function, c, batch, &pattern)) {
        return false;
      }
      const Dense<W> left = read_dense<W>(a, a.batches == 1 ? 0 : batch, op_a);
      write_values(
          c,
          batch,
          pattern,
          sums<W>(batch, pattern, left, columns_of_b<W>(batch)));
    }
    return true;
  }

 private:
  /// op(b) by columns.
  template <typename W>
  Dense<W> columns_of_b(int batch) const {
    Dense<W> turned = read_dense<W>(
        b, b.batches == 1 ? 0 : batch, op_b == kAsIs ? kTurned : kAsIs);
    if (op_b == kConjugate) {
      for (W& value : turned.values) {
        value = conjugate(value);
      }
    }
    return turned;
  }

  template <typename W>
  std::vector<W> sums(
      int batch,
      const Pattern& pattern,
      const Dense<W>& left,
      const Dense<W>& right) const {
    const W factor = alpha.get<W>();
    const W old = beta.get<W>();
    std::vector<W> values(pattern.size());
    if (old != W()) {
      values = read_values<W>(c, batch, pattern);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      const W* const from = left.row(pattern.rows[k]);
      const W* const with = right.row(pattern.columns[k]);
      W sum{};
      for (std::int64_t i = 0; i < left.columns; ++i) {
        sum += from[i] * with[i];
      }
      values[k] = factor * sum + old * values[k];
    }
    return values;
  }
};

cusparseStatus_t check_sddmm(
    const cusparseContext* handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    const cusparseDnMatDescr* a,
    const cusparseDnMatDescr* b,
    const void* beta,
    const cusparseSpMatDescr* c,
    cudaDataType compute,
    cusparseSDDMMAlg_t algorithm) {
  if (!are_there(handle, alpha, a, b, beta, c)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const Types types{a->type, c->type, compute};
  return check(
      {valid(is_operation(op_a) && is_operation(op_b)),
       valid(algorithm == CUSPARSE_SDDMM_ALG_DEFAULT),
       valid((op_a == kAsIs ? a->rows : a->columns) == c->rows),
       valid((op_b == kAsIs ? b->columns : b->rows) == c->columns),
       valid(
           (op_a == kAsIs ? a->columns : a->rows) ==
           (op_b == kAsIs ? b->rows : b->columns)),
       supported(c->index_type != CUSPARSE_INDEX_16U),
       supported(
           c->format == CUSPARSE_FORMAT_CSR ||
           c->format == CUSPARSE_FORMAT_BSR),
       supported(!c->is_triangular),
       supported(a->batches == 1 || a->batches == c->batches),
       supported(b->batches == 1 || b->batches == c->batches),
       supported(a->type == b->type),
       supported(
           are_plain(types) ||
           is_one_of(
               types,
               {{CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
                {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F}}))});
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(11, cusparseSDDMM_bufferSize, CheckedBy<check_sddmm>::size_work)
ENTRY_POINT(11, cusparseSDDMM_preprocess, CheckedBy<check_sddmm>::prepare)

extern "C" {

cusparseStatus_t cusparseSDDMM(
    cusparseHandle_t handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    cusparseConstDnMatDescr_t a,
    cusparseConstDnMatDescr_t b,
    const void* beta,
    cusparseSpMatDescr_t c,
    cudaDataType compute,
    cusparseSDDMMAlg_t algorithm,
    void*) {
  const cusparseStatus_t status =
      check_sddmm(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const SampledProduct product{
      __func__,
      op_a,
      op_b,
      Scalar(handle, compute, alpha),
      Scalar(handle, compute, beta),
      *a,
      *b,
      *c};
  return submit(
      __func__,
      handle,
      Memory(
          memory_of(*a),
          memory_of(*b),
          memory_of(*c),
          product.alpha.extent(),
          product.beta.extent()),
      [product, compute] {
        return as_wide(
            compute, [&](auto zero) { return product.run<decltype(zero)>(); });
      });
}

} // extern "C"
