// Tridiagonal and pentadiagonal systems, one and many (gtsv2, gpsv).
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {
namespace {

/// Systems that are solved by one call. Element i of the diagonals and of the
/// solution of system k is at k * system_stride + i * element_stride.
struct Systems {
  cudaDataType type = CUDA_R_32F;
  std::int64_t size = 0; // of a system
  int width = 1; // diagonals on either side of the main one
  std::vector<const void*> diagonals; // from the lowest up
  bool shares_diagonals = false; // all systems have those of the first
  void* solutions = nullptr;
  std::int64_t count = 0;
  std::int64_t system_stride = 0;
  std::int64_t element_stride = 1;
  bool is_valid = true; // what a call demands besides
};

double magnitude(double value) {
  return std::abs(value);
}
double magnitude(const Complex& value) {
  return std::abs(value.real()) + std::abs(value.imag());
}

/// Gaussian elimination with row interchanges, which fill `width` diagonals
/// more above the main one.
/// @param rows of 3 * width + 1 elements: those of row i are at columns from
/// i - width on.
template <typename W>
void solve(
    std::int64_t size,
    std::int64_t width,
    std::vector<W>& rows,
    std::vector<W>& solution) {
  const std::int64_t upper = 2 * width;
  const auto at = [&](std::int64_t i, std::int64_t j) -> W& {
    return rows[static_cast<std::size_t>(
        i * (width + upper + 1) + j - i + width)];
  };
  const auto x = [&](std::int64_t i) -> W& {
    return solution[static_cast<std::size_t>(i)];
  };
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t below = std::min(size, i + width + 1);
    const std::int64_t right = std::min(size, i + upper + 1);
    std::int64_t pivot = i;
    for (std::int64_t k = i + 1; k < below; ++k) {
      pivot = magnitude(at(k, i)) > magnitude(at(pivot, i)) ? k : pivot;
    }
    if (pivot != i) {
      for (std::int64_t j = i; j < right; ++j) {
        std::swap(at(i, j), at(pivot, j));
      }
      std::swap(x(i), x(pivot));
    }
    for (std::int64_t k = i + 1; k < below; ++k) {
      const W factor = at(k, i) / at(i, i);
      for (std::int64_t j = i + 1; j < right; ++j) {
        at(k, j) -= factor * at(i, j);
      }
      x(k) -= factor * x(i);
    }
  }
  for (std::int64_t i = size - 1; i >= 0; --i) {
    for (std::int64_t j = i + 1; j < std::min(size, i + upper + 1); ++j) {
      x(i) -= at(i, j) * x(j);
    }
    x(i) /= at(i, i);
  }
}

template <typename W>
void solve_all(const Systems& systems) {
  const std::int64_t width = systems.width;
  const std::int64_t size = systems.size;
  const auto elements = static_cast<std::size_t>(size);
  std::vector<W> solution(elements);
  std::vector<W> diagonal(elements);
  for (std::int64_t k = 0; k < systems.count; ++k) {
    std::vector<W> rows(elements * static_cast<std::size_t>(3 * width + 1));
    const std::int64_t first = k * systems.system_stride;
    for (std::int64_t d = 0; d < 2 * width + 1; ++d) {
      load(
          systems.type,
          systems.diagonals[static_cast<std::size_t>(d)],
          systems.shares_diagonals ? 0 : first,
          systems.element_stride,
          size,
          diagonal.data());
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t column = i + d - width;
        if (column >= 0 && column < size) { // what lies outside is not read
          rows[static_cast<std::size_t>(i * (3 * width + 1) + d)] =
              diagonal[static_cast<std::size_t>(i)];
        }
      }
    }
    load(
        systems.type,
        systems.solutions,
        first,
        systems.element_stride,
        size,
        solution.data());
    solve(size, width, rows, solution);
    store(
        systems.type,
        systems.solutions,
        first,
        systems.element_stride,
        size,
        solution.data());
  }
}

cusparseStatus_t check_systems(
    cusparseHandle_t handle,
    const Systems& systems) {
  return check(
      handle,
      {valid(systems.is_valid && systems.size >= 0 && systems.count >= 0),
       // A system of one row or two has no pentadiagonal and no tridiagonal
       // form (CUDA's documentation: m is at least 3).
       valid(systems.size == 0 || systems.size >= 3),
       valid(
           systems.size == 0 || systems.count == 0 ||
           (systems.solutions != nullptr &&
            std::all_of(
                systems.diagonals.begin(),
                systems.diagonals.end(),
                [](const void* one) { return one != nullptr; })))});
}

/// Solves systems, or answers what the work area has to be.
cusparseStatus_t submit_systems(
    const char*,
    cusparseHandle_t handle,
    const Systems& systems,
    std::size_t* size) {
  return answer_work_size(check_systems(handle, systems), size);
}
cusparseStatus_t submit_systems(
    const char* function,
    cusparseHandle_t handle,
    const Systems& systems,
    void*) {
  const cusparseStatus_t status = check_systems(handle, systems);
  if (status != CUSPARSE_STATUS_SUCCESS || systems.size == 0 ||
      systems.count == 0) {
    return status;
  }
  const std::int64_t end = (systems.count - 1) * systems.system_stride +
      (systems.size - 1) * systems.element_stride + 1;
  const std::size_t bytes = size_of(systems.type);
  std::vector<Extent> extents{array(systems.solutions, bytes, end)};
  for (const void* const diagonal : systems.diagonals) {
    extents.push_back(
        array(diagonal, bytes, systems.shares_diagonals ? systems.size : end));
  }
  return submit(function, handle, Memory(extents), [systems] {
    as_wide(
        systems.type, [&](auto zero) { solve_all<decltype(zero)>(systems); });
    return true;
  });
}

/// Columns of a matrix.
template <typename Last>
cusparseStatus_t gtsv2(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    int size,
    int columns,
    const void* lower,
    const void* main,
    const void* upper,
    const void* solutions,
    int leading,
    Last last) {
  Systems systems;
  systems.type = type;
  systems.size = size;
  systems.diagonals = {lower, main, upper};
  systems.shares_diagonals = true;
  systems.solutions = const_cast<void*>(solutions);
  systems.count = columns;
  systems.system_stride = leading;
  systems.is_valid = leading >= std::max(1, size);
  return submit_systems(function, handle, systems, last);
}

/// One behind the other.
template <typename Last>
cusparseStatus_t gtsv2_strided(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    int size,
    const void* lower,
    const void* main,
    const void* upper,
    const void* solutions,
    int count,
    int stride,
    Last last) {
  Systems systems;
  systems.type = type;
  systems.size = size;
  systems.diagonals = {lower, main, upper};
  systems.solutions = const_cast<void*>(solutions);
  systems.count = count;
  systems.system_stride = stride;
  systems.is_valid = stride >= size;
  return submit_systems(function, handle, systems, last);
}

/// The same elements of all systems beside each other.
Systems interleaved(
    cudaDataType type,
    int size,
    std::vector<const void*> diagonals,
    const void* solutions,
    int count,
    bool has_algorithm) {
  Systems systems;
  systems.type = type;
  systems.size = size;
  systems.width = static_cast<int>(diagonals.size()) / 2;
  systems.diagonals = std::move(diagonals);
  systems.solutions = const_cast<void*>(solutions);
  systems.count = count;
  systems.system_stride = 1;
  systems.element_stride = count;
  systems.is_valid = has_algorithm;
  return systems;
}

template <typename Last>
cusparseStatus_t gtsv_interleaved(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    int algorithm,
    int size,
    const void* lower,
    const void* main,
    const void* upper,
    const void* solutions,
    int count,
    Last last) {
  const bool has_algorithm = algorithm >= 0 && algorithm <= 2;
  return submit_systems(
      function,
      handle,
      interleaved(
          type, size, {lower, main, upper}, solutions, count, has_algorithm),
      last);
}

template <typename Last>
cusparseStatus_t gpsv_interleaved(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    int algorithm,
    int size,
    const void* lowest,
    const void* lower,
    const void* main,
    const void* upper,
    const void* highest,
    const void* solutions,
    int count,
    Last last) {
  return submit_systems(
      function,
      handle,
      interleaved(
          type,
          size,
          {lowest, lower, main, upper, highest},
          solutions,
          count,
          algorithm == 0),
      last);
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

UNTYPED_ENTRY_POINTS(9, cusparse, gtsv2_bufferSizeExt, gtsv2)
UNTYPED_ENTRY_POINTS(9, cusparse, gtsv2, gtsv2)
UNTYPED_ENTRY_POINTS(9, cusparse, gtsv2_nopivot_bufferSizeExt, gtsv2)
UNTYPED_ENTRY_POINTS(9, cusparse, gtsv2_nopivot, gtsv2)
UNTYPED_ENTRY_POINTS(
    9,
    cusparse,
    gtsv2StridedBatch_bufferSizeExt,
    gtsv2_strided)
UNTYPED_ENTRY_POINTS(9, cusparse, gtsv2StridedBatch, gtsv2_strided)
UNTYPED_ENTRY_POINTS(
    9,
    cusparse,
    gtsvInterleavedBatch_bufferSizeExt,
    gtsv_interleaved)
UNTYPED_ENTRY_POINTS(9, cusparse, gtsvInterleavedBatch, gtsv_interleaved)
UNTYPED_ENTRY_POINTS(
    11,
    cusparse,
    gpsvInterleavedBatch_bufferSizeExt,
    gpsv_interleaved)
UNTYPED_ENTRY_POINTS(11, cusparse, gpsvInterleavedBatch, gpsv_interleaved)
