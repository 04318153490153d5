#include "runtime/libraries/blas/lt/layout.h"

namespace accelerator::blas::lt {
namespace {

/// Columns of a tile.
constexpr std::int64_t kTile = 32;

/// Rows of a tile.
std::int64_t tile_rows(const MatrixLayout& layout) {
  return layout.order == CUBLASLT_ORDER_COL32      ? 1
      : layout.order == CUBLASLT_ORDER_COL4_4R2_8C ? 8
                                                   : 32;
}

/// The number of an element within its tile.
std::int64_t place_in_tile(
    cublasLtOrder_t order,
    std::int64_t row,
    std::int64_t column) {
  switch (order) {
    case CUBLASLT_ORDER_COL4_4R2_8C:
      return row % 2 * 128 + column / 4 * 16 + row / 2 * 4 + column % 4;
    case CUBLASLT_ORDER_COL32_2R_4R4:
      return ((row % 8 / 2 * 4 + row / 8) * 2 + row % 2) * kTile + column;
    default:
      return column;
  }
}

/// Lines that a layout's leading dimension leads from one to the next of, and
/// elements of each.
struct Lines {
  std::int64_t count;
  std::int64_t length;
};

Lines lines_of(const MatrixLayout& layout) {
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  switch (layout.order) {
    case CUBLASLT_ORDER_COL:
      return {columns, rows};
    case CUBLASLT_ORDER_ROW:
      return {rows, columns};
    default: {
      const std::int64_t down = tile_rows(layout);
      return {
          columns / kTile + (columns % kTile != 0 ? 1 : 0),
          (rows / down + (rows % down != 0 ? 1 : 0)) * down * kTile};
    }
  }
}

bool has_gaps(const MatrixLayout& layout) {
  return !has_plain_order(layout) &&
      (layout.columns % kTile != 0 || layout.rows % tile_rows(layout) != 0);
}

} // namespace

bool has_plain_order(const MatrixLayout& layout) {
  return layout.order == CUBLASLT_ORDER_COL ||
      layout.order == CUBLASLT_ORDER_ROW;
}

bool has_known_order(const MatrixLayout& layout) {
  return layout.order >= CUBLASLT_ORDER_COL &&
      layout.order <= CUBLASLT_ORDER_COL32_2R_4R4;
}

std::int64_t place_of(
    const MatrixLayout& layout,
    std::int64_t row,
    std::int64_t column) {
  if (layout.order == CUBLASLT_ORDER_COL) {
    return column * layout.leading + row;
  }
  if (layout.order == CUBLASLT_ORDER_ROW) {
    return row * layout.leading + column;
  }
  const std::int64_t down = tile_rows(layout);
  return column / kTile * layout.leading + row / down * down * kTile +
      place_in_tile(layout.order, row % down, column % kTile);
}

// A single line cannot overlap, and PyTorch does give one any stride that its
// tensor has.
bool lies_apart(const MatrixLayout& layout) {
  const Lines lines = lines_of(layout);
  return layout.leading >= 0 &&
      (lines.count <= 1 || layout.leading >= lines.length);
}

const char* batch_of(const void* data, const MatrixLayout& layout, int i) {
  return static_cast<const char*>(data) +
      i * layout.batch_stride * size_of(layout.type);
}

Extent memory_of(const void* data, const MatrixLayout& layout, int count) {
  const std::size_t size = size_of(layout.type);
  const Lines lines = lines_of(layout);
  return strided_extent(
      data,
      matrix_bytes(lines.length, lines.count, layout.leading, size),
      layout.batch_stride,
      size,
      count);
}

Read read_of(const void* data, const MatrixLayout& layout, int count) {
  const std::size_t size = size_of(layout.type);
  const Lines lines = lines_of(layout);
  return stream_work::batched_read(
      matrix_read(
          data,
          lines.length,
          has_gaps(layout) ? 0 : lines.count,
          layout.leading,
          size),
      layout.batch_stride,
      size,
      count);
}

} // namespace accelerator::blas::lt
