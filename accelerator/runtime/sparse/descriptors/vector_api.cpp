// Descriptors of vectors, sparse and dense.
#include <cusparse.h>

#include "accelerator/runtime/sparse/descriptors.h"
#include "accelerator/runtime/sparse/numbers.h"
#include "accelerator/runtime/sparse/objects.h"

namespace accelerator::sparse {
namespace {

template <typename Vector>
cusparseStatus_t set_values(Vector* vector, void* values) {
  if (vector == nullptr || !is_aligned(values, size_of(vector->type))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  vector->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Vector, typename Pointer>
cusparseStatus_t get_values(const Vector* vector, Pointer* values) {
  return vector == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                           : answer(std::pair(values, vector->values));
}

template <typename Pointer>
cusparseStatus_t get(
    const cusparseSpVecDescr* vector,
    std::int64_t* size,
    std::int64_t* nnz,
    Pointer* indices,
    Pointer* values,
    cusparseIndexType_t* index_type,
    cusparseIndexBase_t* base,
    cudaDataType* type) {
  return vector == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                           : answer(
                                 std::pair(size, vector->size),
                                 std::pair(nnz, vector->nnz),
                                 std::pair(indices, vector->indices),
                                 std::pair(values, vector->values),
                                 std::pair(index_type, vector->index_type),
                                 std::pair(base, vector->base),
                                 std::pair(type, vector->type));
}

template <typename Pointer>
cusparseStatus_t get(
    const cusparseDnVecDescr* vector,
    std::int64_t* size,
    Pointer* values,
    cudaDataType* type) {
  return vector == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                           : answer(
                                 std::pair(size, vector->size),
                                 std::pair(values, vector->values),
                                 std::pair(type, vector->type));
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseCreateSpVec(
    cusparseSpVecDescr_t* vector,
    std::int64_t size,
    std::int64_t nnz,
    void* indices,
    void* values,
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  if (size < 0 || nnz < 0 || nnz > size ||
      !is_well_typed(index_type, base, type, nullptr, indices, values) ||
      !is_in_range(index_type, base, size)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return create(
      vector,
      cusparseSpVecDescr{size, nnz, indices, values, index_type, base, type});
}

cusparseStatus_t cusparseCreateConstSpVec(
    cusparseConstSpVecDescr_t* vector,
    std::int64_t size,
    std::int64_t nnz,
    const void* indices,
    const void* values,
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  return cusparseCreateSpVec(
      const_cast<cusparseSpVecDescr_t*>(vector),
      size,
      nnz,
      const_cast<void*>(indices),
      const_cast<void*>(values),
      index_type,
      base,
      type);
}

cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) {
  return destroy(vector);
}

cusparseStatus_t cusparseSpVecGet(
    cusparseSpVecDescr_t vector,
    std::int64_t* size,
    std::int64_t* nnz,
    void** indices,
    void** values,
    cusparseIndexType_t* index_type,
    cusparseIndexBase_t* base,
    cudaDataType* type) {
  return get(vector, size, nnz, indices, values, index_type, base, type);
}

cusparseStatus_t cusparseConstSpVecGet(
    cusparseConstSpVecDescr_t vector,
    std::int64_t* size,
    std::int64_t* nnz,
    const void** indices,
    const void** values,
    cusparseIndexType_t* index_type,
    cusparseIndexBase_t* base,
    cudaDataType* type) {
  return get(vector, size, nnz, indices, values, index_type, base, type);
}

cusparseStatus_t cusparseSpVecGetIndexBase(
    cusparseConstSpVecDescr_t vector,
    cusparseIndexBase_t* base) {
  return vector == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                           : answer(std::pair(base, vector->base));
}

cusparseStatus_t cusparseSpVecGetValues(
    cusparseSpVecDescr_t vector,
    void** values) {
  return get_values(vector, values);
}

cusparseStatus_t cusparseConstSpVecGetValues(
    cusparseConstSpVecDescr_t vector,
    const void** values) {
  return get_values(vector, values);
}

cusparseStatus_t cusparseSpVecSetValues(
    cusparseSpVecDescr_t vector,
    void* values) {
  return set_values(vector, values);
}

cusparseStatus_t cusparseCreateDnVec(
    cusparseDnVecDescr_t* vector,
    std::int64_t size,
    void* values,
    cudaDataType type) {
  if (size < 0 || size_of(type) == 0 || !is_aligned(values, size_of(type))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return create(vector, cusparseDnVecDescr{size, values, type});
}

cusparseStatus_t cusparseCreateConstDnVec(
    cusparseConstDnVecDescr_t* vector,
    std::int64_t size,
    const void* values,
    cudaDataType type) {
  return cusparseCreateDnVec(
      const_cast<cusparseDnVecDescr_t*>(vector),
      size,
      const_cast<void*>(values),
      type);
}

cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  return destroy(vector);
}

cusparseStatus_t cusparseDnVecGet(
    cusparseDnVecDescr_t vector,
    std::int64_t* size,
    void** values,
    cudaDataType* type) {
  return get(vector, size, values, type);
}

cusparseStatus_t cusparseConstDnVecGet(
    cusparseConstDnVecDescr_t vector,
    std::int64_t* size,
    const void** values,
    cudaDataType* type) {
  return get(vector, size, values, type);
}

cusparseStatus_t cusparseDnVecGetValues(
    cusparseDnVecDescr_t vector,
    void** values) {
  return get_values(vector, values);
}

cusparseStatus_t cusparseConstDnVecGetValues(
    cusparseConstDnVecDescr_t vector,
    const void** values) {
  return get_values(vector, values);
}

cusparseStatus_t cusparseDnVecSetValues(
    cusparseDnVecDescr_t vector,
    void* values) {
  return set_values(vector, values);
}

} // extern "C"
