// What the generic API's descriptors stand for: vectors and matrices in memory
// of the device. Source: cuSPARSE API, "cuSPARSE Generic APIs" and "cuSPARSE
// Storage Formats".
#pragma once

#include <cusparse.h>

#include <cstdint>

struct cusparseDnVecDescr {
  std::int64_t size = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
};

struct cusparseSpVecDescr {
  std::int64_t size = 0;
  std::int64_t nnz = 0;
  void* indices = nullptr;
  void* values = nullptr;
  cusparseIndexType_t index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
};

struct cusparseDnMatDescr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
  cusparseOrder_t order = CUSPARSE_ORDER_COL;
  int batches = 1;
  std::int64_t stride = 0;
};

struct cusparseSpMatDescr {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Entries; of formats with blocks all that blocks have.
  std::int64_t nnz = 0;
  /// Where each row (CSR), column (CSC), row of blocks (BSR) or slice (sliced
  /// ELL) begins; of COO the row of each entry.
  void* offsets = nullptr;
  /// The column of each entry or block, of CSC the row.
  void* indices = nullptr;
  void* values = nullptr;
  /// Of offsets as of indices.
  cusparseIndexType_t index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
  /// Of the elements of BSR's blocks.
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;
  /// Rows and columns of a block (BSR, blocked ELL), rows of a slice.
  std::int64_t block = 1;
  /// Of ELL: columns of the array of values (blocked), elements of it (sliced).
  std::int64_t ell_size = 0;
  int batches = 1;
  std::int64_t offsets_stride = 0;
  std::int64_t indices_stride = 0;
  std::int64_t values_stride = 0;
  cusparseFillMode_t fill_mode = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  /// Whether the program has set one of these two.
  bool is_triangular = false;
};

namespace accelerator::sparse {

/// The most batches that there can be.
constexpr int kMostBatches = 65535;

bool is_index_type(cusparseIndexType_t type);
bool is_base(cusparseIndexBase_t base);
bool is_order(cusparseOrder_t order);
bool is_operation(cusparseOperation_t operation);

/// Bytes of an index.
std::size_t size_of(cusparseIndexType_t type);

/// Whether a pointer is where an element of so many bytes can be.
bool is_aligned(const void* pointer, std::size_t size);

/// What all descriptors of sparse vectors and matrices have in common: types
/// that there are, at addresses that they can be at.
bool is_well_typed(
    cusparseIndexType_t index_type,
    cusparseIndexBase_t base,
    cudaDataType type,
    const void* offsets,
    const void* indices,
    const void* values);

/// Whether an index of the type can count to `size`, from the base.
bool is_in_range(
    cusparseIndexType_t type,
    cusparseIndexBase_t base,
    std::int64_t size);

/// Elements of the matrix's arrays, of one batch.
std::int64_t offsets_count(const cusparseSpMatDescr& matrix);
std::int64_t indices_count(const cusparseSpMatDescr& matrix);
std::int64_t values_count(const cusparseSpMatDescr& matrix);

} // namespace accelerator::sparse
