// Products of two sparse matrices (SpGEMM), and those of matrices whose entries
// stay where they are while their values change (SpGEMMreuse).
#include <cusparse.h>

#include <memory>

#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/sparse_product.h"
#include "runtime/libraries/sparse/submit.h"
#include "runtime/libraries/sparse/types.h"

struct cusparseSpGEMMDescr {
  /// What work in streams has computed; null until it has been asked for.
  std::shared_ptr<accelerator::sparse::Csr> product;
  std::int64_t products = 0;
};

namespace accelerator::sparse {
namespace {

cusparseStatus_t check_matrices(
    const cusparseContext* handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const cusparseSpMatDescr* a,
    const cusparseSpMatDescr* b,
    const cusparseSpMatDescr* c,
    cusparseSpGEMMAlg_t algorithm,
    const cusparseSpGEMMDescr* descriptor) {
  if (!are_there(handle, a, b, c, descriptor)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const auto is_csr = [](const cusparseSpMatDescr* matrix) {
    return matrix->format == CUSPARSE_FORMAT_CSR;
  };
  const auto is_narrow = [](const cusparseSpMatDescr* matrix) {
    return matrix->index_type == CUSPARSE_INDEX_32I;
  };
  return check(
      {valid(is_operation(op_a) && is_operation(op_b)),
       valid(
           algorithm >= CUSPARSE_SPGEMM_DEFAULT &&
           algorithm <= CUSPARSE_SPGEMM_ALG3),
       valid(a->columns == b->rows),
       valid(a->rows == c->rows && b->columns == c->columns),
       supported(op_a == kAsIs && op_b == kAsIs),
       supported(is_csr(a) && is_csr(b) && is_csr(c)),
       supported(is_narrow(a) && is_narrow(b) && is_narrow(c)),
       supported(!a->is_triangular && !b->is_triangular && !c->is_triangular),
       supported(a->batches == 1 && b->batches == 1 && c->batches == 1),
       supported(a->type == b->type && a->type == c->type)});
}

/// Small types too, in which the scalars then are.
cusparseStatus_t check_scalars(
    const void* alpha,
    const void* beta,
    const cusparseSpMatDescr* c,
    cudaDataType compute) {
  return check(
      {valid(are_there(alpha, beta)),
       supported(
           c->type == compute && compute != CUDA_R_8I &&
           compute != CUDA_R_32I)});
}

cusparseStatus_t check_all(
    const cusparseContext* handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseSpMatDescr* b,
    const void* beta,
    const cusparseSpMatDescr* c,
    cudaDataType compute,
    cusparseSpGEMMAlg_t algorithm,
    const cusparseSpGEMMDescr* descriptor) {
  const cusparseStatus_t status =
      check_matrices(handle, op_a, op_b, a, b, c, algorithm, descriptor);
  return status == CUSPARSE_STATUS_SUCCESS
      ? check_scalars(alpha, beta, c, compute)
      : status;
}

/// Computes the product now, because the host wants to know its size.
cusparseStatus_t compute_now(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpMatDescr& a,
    const cusparseSpMatDescr& b,
    cusparseSpGEMMDescr* descriptor) {
  const auto product = std::make_shared<Csr>();
  const auto products = std::make_shared<std::int64_t>();
  const cusparseStatus_t status = submit_and_wait(
      function,
      handle,
      Memory(memory_of(a), memory_of(b)),
      [function, a, b, product, products] {
        return multiply(function, a, b, product.get(), products.get());
      });
  if (status == CUSPARSE_STATUS_SUCCESS) {
    descriptor->product = product;
    descriptor->products = *products;
  }
  return status;
}

/// Whether a matrix has the place for a product.
bool has_place(const cusparseSpMatDescr& c, const cusparseSpGEMMDescr& d) {
  return d.product != nullptr && d.product->nnz() == c.nnz &&
      d.product->offsets.size() == static_cast<std::size_t>(c.rows + 1);
}

void write_structure(const cusparseSpMatDescr& c, const Csr& product) {
  for (std::int64_t i = 0; i <= c.rows; ++i) {
    write_index(c.index_type, c.offsets, i, c.base, product.offsets[i]);
  }
  for (std::int64_t k = 0; k < product.nnz(); ++k) {
    write_index(c.index_type, c.indices, k, c.base, product.columns[k]);
  }
}

/// Writes alpha * product + beta * c to a matrix with the same entries.
void write_sum(
    const cusparseSpMatDescr& c,
    const Csr& product,
    const Scalar& alpha,
    const Scalar& beta) {
  const Complex factor = alpha.get<Complex>(), old = beta.get<Complex>();
  std::vector<Complex> values(product.values);
  std::vector<Complex> before(values.size());
  if (old != Complex()) {
    load(c.type, c.values, 0, 1, c.nnz, before.data());
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = factor * values[k] + old * before[k];
  }
  store(c.type, c.values, 0, 1, c.nnz, values.data());
}

/// The first call asks for the size of a work area, the second brings one.
bool asks_for_size(const void* buffer, std::size_t* size) {
  if (buffer != nullptr) {
    return false;
  }
  *size = kWorkBytes;
  return true;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(1, cusparseSpGEMM_createDescr, create)
ENTRY_POINT(1, cusparseSpGEMM_destroyDescr, destroy)
ENTRY_POINT(
    2,
    cusparseSpGEMM_getNumProducts,
    get<&cusparseSpGEMMDescr::products>)

extern "C" {

// SpGEMM's functions that compute, by how their parameters end.
#define ACCEL_SPGEMM(name, ...)      \
  cusparseStatus_t name(             \
      cusparseHandle_t handle,       \
      cusparseOperation_t op_a,      \
      cusparseOperation_t op_b,      \
      const void* alpha,             \
      cusparseConstSpMatDescr_t a,   \
      cusparseConstSpMatDescr_t b,   \
      const void* beta,              \
      cusparseSpMatDescr_t c,        \
      cudaDataType compute,          \
      cusparseSpGEMMAlg_t algorithm, \
      __VA_ARGS__)
ACCEL_SPGEMM(
    cusparseSpGEMM_workEstimation,
    cusparseSpGEMMDescr_t descriptor,
    std::size_t* size,
    void* buffer) {
  const cusparseStatus_t status = check_all(
      handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || size == nullptr) {
    return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_INVALID_VALUE
                                             : status;
  }
  return asks_for_size(buffer, size)
      ? CUSPARSE_STATUS_SUCCESS
      : compute_now(__func__, handle, *a, *b, descriptor);
}

ACCEL_SPGEMM(
    cusparseSpGEMM_estimateMemory,
    cusparseSpGEMMDescr_t descriptor,
    float chunk_fraction,
    std::size_t* size_3,
    void* buffer_3,
    std::size_t* size_2) {
  const cusparseStatus_t status = check_all(
      handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const cusparseStatus_t arguments = check(
      {supported(
           algorithm == CUSPARSE_SPGEMM_ALG2 ||
           algorithm == CUSPARSE_SPGEMM_ALG3),
       valid(chunk_fraction > 0 && chunk_fraction <= 1),
       valid(buffer_3 == nullptr ? size_3 != nullptr : size_2 != nullptr)});
  if (arguments == CUSPARSE_STATUS_SUCCESS) {
    *(buffer_3 == nullptr ? size_3 : size_2) = kWorkBytes;
  }
  return arguments;
}

ACCEL_SPGEMM(
    cusparseSpGEMM_compute,
    cusparseSpGEMMDescr_t descriptor,
    std::size_t* size,
    void* buffer) {
  cusparseStatus_t status = check_all(
      handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || size == nullptr) {
    return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_INVALID_VALUE
                                             : status;
  }
  if (asks_for_size(buffer, size)) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  status = compute_now(__func__, handle, *a, *b, descriptor);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    c->nnz = descriptor->product->nnz();
  }
  return status;
}

ACCEL_SPGEMM(cusparseSpGEMM_copy, cusparseSpGEMMDescr_t descriptor) {
  const cusparseStatus_t status = check_all(
      handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || !has_place(*c, *descriptor)) {
    return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_INVALID_VALUE
                                             : status;
  }
  const Scalar factor(handle, compute, alpha), old(handle, compute, beta);
  return submit(
      __func__,
      handle,
      Memory(memory_of(*c), factor.extent(), old.extent()),
      [c = *c, product = descriptor->product, factor, old] {
        write_structure(c, *product);
        write_sum(c, *product, factor, old);
        return true;
      });
}

// SpGEMMreuse's functions that need no values.
#define ACCEL_SPGEMM_REUSE(name, ...)   \
  cusparseStatus_t name(                \
      cusparseHandle_t handle,          \
      cusparseOperation_t op_a,         \
      cusparseOperation_t op_b,         \
      cusparseConstSpMatDescr_t a,      \
      cusparseConstSpMatDescr_t b,      \
      cusparseSpMatDescr_t c,           \
      cusparseSpGEMMAlg_t algorithm,    \
      cusparseSpGEMMDescr_t descriptor, \
      __VA_ARGS__)
ACCEL_SPGEMM_REUSE(
    cusparseSpGEMMreuse_workEstimation,
    std::size_t* size,
    void* buffer) {
  const cusparseStatus_t status =
      check_matrices(handle, op_a, op_b, a, b, c, algorithm, descriptor);
  return buffer == nullptr ? answer_work_size(status, size) : status;
}

ACCEL_SPGEMM_REUSE(
    cusparseSpGEMMreuse_nnz,
    std::size_t* size_2,
    void* buffer_2,
    std::size_t* size_3,
    void* buffer_3,
    std::size_t* size_4,
    void* buffer_4) {
  cusparseStatus_t status =
      check_matrices(handle, op_a, op_b, a, b, c, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  if (!are_there(buffer_2, buffer_3, buffer_4)) {
    return answer(
        std::pair(size_2, kWorkBytes),
        std::pair(size_3, kWorkBytes),
        std::pair(size_4, kWorkBytes));
  }
  status = compute_now(__func__, handle, *a, *b, descriptor);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    c->nnz = descriptor->product->nnz();
  }
  return status;
}

ACCEL_SPGEMM_REUSE(cusparseSpGEMMreuse_copy, std::size_t* size, void* buffer) {
  const cusparseStatus_t status =
      check_matrices(handle, op_a, op_b, a, b, c, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || buffer == nullptr) {
    return answer_work_size(status, size);
  }
  if (!has_place(*c, *descriptor)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return submit(
      __func__,
      handle,
      Memory(memory_of(*c)),
      [c = *c, product = descriptor->product] {
        write_structure(c, *product);
        return true;
      });
}
#undef ACCEL_SPGEMM_REUSE

// The values of the matrices as they are now.
ACCEL_SPGEMM(cusparseSpGEMMreuse_compute, cusparseSpGEMMDescr_t descriptor) {
  const cusparseStatus_t status = check_all(
      handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != CUSPARSE_STATUS_SUCCESS || !has_place(*c, *descriptor)) {
    return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_INVALID_VALUE
                                             : status;
  }
  const Scalar factor(handle, compute, alpha), old(handle, compute, beta);
  return submit(
      __func__,
      handle,
      Memory(
          memory_of(*a),
          memory_of(*b),
          memory_of(*c),
          factor.extent(),
          old.extent()),
      [function = __func__, a = *a, b = *b, c = *c, factor, old] {
        Csr product;
        std::int64_t products = 0;
        if (!multiply(function, a, b, &product, &products)) {
          return false;
        }
        if (product.nnz() != c.nnz) {
          return is_outside(function, product.nnz(), c.nnz);
        }
        write_sum(c, product, factor, old);
        return true;
      });
}
#undef ACCEL_SPGEMM

} // extern "C"
