#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

/// CSR, of the matrix or its transposed one.
Arrays compressed(const Matrix& matrix) {
  Arrays arrays;
  arrays.offsets.push_back(0);
  for (int i = 0; i < matrix.rows; ++i) {
    for (int j = 0; j < matrix.columns; ++j) {
      if (matrix(i, j) != 0.0) {
        arrays.indices.push_back(j);
        arrays.values.push_back(matrix(i, j));
      }
    }
    arrays.offsets.push_back(static_cast<std::int64_t>(arrays.indices.size()));
  }
  return arrays;
}

bool has_block(const Matrix& matrix, int row, int column, int size) {
  for (int k = 0; k < size * size; ++k) {
    if (matrix(row + k / size, column + k % size) != 0.0) {
      return true;
    }
  }
  return false;
}

Arrays block_compressed(const Matrix& matrix, const Storage& storage) {
  const int size = storage.block;
  Arrays arrays;
  arrays.offsets.push_back(0);
  for (int i = 0; i < matrix.rows; i += size) {
    for (int j = 0; j < matrix.columns; j += size) {
      if (!has_block(matrix, i, j, size)) {
        continue;
      }
      arrays.indices.push_back(j / size);
      for (int k = 0; k < size * size; ++k) {
        const int first = k / size, second = k % size;
        arrays.values.push_back(
            storage.order == CUSPARSE_ORDER_ROW
                ? matrix(i + first, j + second)
                : matrix(i + second, j + first));
      }
    }
    arrays.offsets.push_back(static_cast<std::int64_t>(arrays.indices.size()));
  }
  return arrays;
}

/// As many blocks in each row of blocks as the matrix has columns of blocks,
/// those that are not there last and marked.
Arrays blocked_ell(const Matrix& matrix, int size) {
  const int across = matrix.columns / size;
  Arrays arrays;
  arrays.values.resize(
      static_cast<std::size_t>(matrix.rows) * matrix.columns, 99);
  for (int i = 0; i < matrix.rows; i += size) {
    int there = 0;
    for (int j = 0; j < matrix.columns; j += size) {
      if (!has_block(matrix, i, j, size)) {
        continue;
      }
      arrays.indices.push_back(j / size);
      for (int k = 0; k < size * size; ++k) {
        const int row = i + k / size;
        arrays.values[row * matrix.columns + there * size + k % size] =
            matrix(row, j + k % size);
      }
      ++there;
    }
    arrays.indices.insert(arrays.indices.end(), across - there, -1);
  }
  return arrays;
}

Arrays sliced_ell(const Matrix& matrix, int size) {
  const Arrays rows = compressed(matrix);
  Arrays arrays;
  arrays.offsets.push_back(0);
  for (int first = 0; first < matrix.rows; first += size) {
    const auto count = [&](int row) {
      return row < matrix.rows ? rows.offsets[row + 1] - rows.offsets[row] : 0;
    };
    std::int64_t width = 0;
    for (int row = first; row < first + size; ++row) {
      width = std::max<std::int64_t>(width, count(row));
    }
    for (std::int64_t k = 0; k < width; ++k) {
      for (int row = first; row < first + size; ++row) {
        const bool is_there = k < count(row);
        arrays.indices.push_back(
            is_there ? rows.indices[rows.offsets[row] + k] : -1);
        arrays.values.push_back(
            is_there ? rows.values[rows.offsets[row] + k] : 99);
      }
    }
    arrays.offsets.push_back(static_cast<std::int64_t>(arrays.indices.size()));
  }
  arrays.nnz = static_cast<std::int64_t>(rows.indices.size());
  return arrays;
}

Arrays without_base(const Matrix& matrix, const Storage& storage) {
  switch (storage.format) {
    case CUSPARSE_FORMAT_BSR:
      return block_compressed(matrix, storage);
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      return blocked_ell(matrix, storage.block);
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      return sliced_ell(matrix, storage.block);
    case CUSPARSE_FORMAT_CSC:
      return compressed(apply(kTurn, matrix));
    default:
      break;
  }
  Arrays arrays = compressed(matrix);
  if (storage.format == CUSPARSE_FORMAT_COO) {
    std::vector<std::int64_t> rows;
    for (int i = 0; i < matrix.rows; ++i) {
      rows.insert(rows.end(), arrays.offsets[i + 1] - arrays.offsets[i], i);
    }
    arrays.offsets = rows;
  }
  return arrays;
}

} // namespace

Arrays arrays_of(const Matrix& matrix, const Storage& storage) {
  Arrays arrays = without_base(matrix, storage);
  if (arrays.nnz == 0) {
    arrays.nnz = static_cast<std::int64_t>(arrays.indices.size());
  }
  for (auto* const indices : {&arrays.offsets, &arrays.indices}) {
    for (std::int64_t& index : *indices) {
      index += index < 0 ? 0 : storage.base;
    }
  }
  return arrays;
}

Sparse::Sparse(const Matrix& matrix, const Storage& storage)
    : arrays(arrays_of(matrix, storage)),
      offsets(storage.index_type, arrays.offsets),
      indices(storage.index_type, arrays.indices),
      values(storage.type, arrays.values) {
  const auto index = storage.index_type;
  const auto base = storage.base;
  const auto type = storage.type;
  cusparseStatus_t status = CUSPARSE_STATUS_NOT_SUPPORTED;
  const auto plain = [&](auto create) {
    return create(
        &descriptor,
        matrix.rows,
        matrix.columns,
        arrays.nnz,
        offsets.get(),
        indices.get(),
        values.get(),
        index,
        index,
        base,
        type);
  };
  switch (storage.format) {
    case CUSPARSE_FORMAT_CSR:
      status = plain(cusparseCreateCsr);
      break;
    case CUSPARSE_FORMAT_CSC:
      status = plain(cusparseCreateCsc);
      break;
    case CUSPARSE_FORMAT_COO:
      status = cusparseCreateCoo(
          &descriptor,
          matrix.rows,
          matrix.columns,
          arrays.nnz,
          offsets.get(),
          indices.get(),
          values.get(),
          index,
          base,
          type);
      break;
    case CUSPARSE_FORMAT_BSR:
      status = cusparseCreateBsr(
          &descriptor,
          matrix.rows / storage.block,
          matrix.columns / storage.block,
          arrays.nnz,
          storage.block,
          storage.block,
          offsets.get(),
          indices.get(),
          values.get(),
          index,
          index,
          base,
          type,
          storage.order);
      break;
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      status = cusparseCreateBlockedEll(
          &descriptor,
          matrix.rows,
          matrix.columns,
          storage.block,
          matrix.columns,
          indices.get(),
          values.get(),
          index,
          base,
          type);
      break;
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      status = cusparseCreateSlicedEll(
          &descriptor,
          matrix.rows,
          matrix.columns,
          arrays.nnz,
          static_cast<std::int64_t>(arrays.values.size()),
          storage.block,
          offsets.get(),
          indices.get(),
          values.get(),
          index,
          index,
          base,
          type);
      break;
  }
  EXPECT_EQ(status, kGood);
}

} // namespace accelerator::sparse::testing
