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
  cudaDataType type;
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

cusparseStatus_t submit_systems(
    const char* function,
    cusparseHandle_t handle,
    const Systems& systems) {
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
Systems of_columns(
    cudaDataType type,
    int size,
    int columns,
    std::vector<const void*> diagonals,
    const void* solutions,
    int leading) {
  return {
      type,
      size,
      1,
      std::move(diagonals),
      true,
      const_cast<void*>(solutions),
      columns,
      leading,
      1,
      leading >= std::max(1, size)};
}

/// One behind the other.
Systems of_batch(
    cudaDataType type,
    int size,
    std::vector<const void*> diagonals,
    const void* solutions,
    int count,
    int stride) {
  return {
      type,
      size,
      1,
      std::move(diagonals),
      false,
      const_cast<void*>(solutions),
      count,
      stride,
      1,
      stride >= size};
}

/// The same elements of all systems beside each other.
Systems interleaved(
    cudaDataType type,
    int size,
    std::vector<const void*> diagonals,
    const void* solutions,
    int count,
    bool has_algorithm) {
  const int width = static_cast<int>(diagonals.size()) / 2;
  return {
      type,
      size,
      width,
      std::move(diagonals),
      false,
      const_cast<void*>(solutions),
      count,
      1,
      count,
      has_algorithm};
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

#define ACCEL_COLUMNS(L, Api, type, name)                                   \
  cusparseStatus_t cusparse##L##name##_bufferSizeExt(                       \
      cusparseHandle_t handle,                                              \
      int m,                                                                \
      int n,                                                                \
      const Api* dl,                                                        \
      const Api* d,                                                         \
      const Api* du,                                                        \
      const Api* b,                                                         \
      int ldb,                                                              \
      std::size_t* size) {                                                  \
    return answer_work_size(                                                \
        check_systems(handle, of_columns(type, m, n, {dl, d, du}, b, ldb)), \
        size);                                                              \
  }                                                                         \
  cusparseStatus_t cusparse##L##name(                                       \
      cusparseHandle_t handle,                                              \
      int m,                                                                \
      int n,                                                                \
      const Api* dl,                                                        \
      const Api* d,                                                         \
      const Api* du,                                                        \
      Api* b,                                                               \
      int ldb,                                                              \
      void*) {                                                              \
    return submit_systems(                                                  \
        __func__, handle, of_columns(type, m, n, {dl, d, du}, b, ldb));     \
  }

#define ACCEL_API(L, Api, type)                                               \
  ACCEL_COLUMNS(L, Api, type, gtsv2)                                          \
  ACCEL_COLUMNS(L, Api, type, gtsv2_nopivot)                                  \
  cusparseStatus_t cusparse##L##gtsv2StridedBatch_bufferSizeExt(              \
      cusparseHandle_t handle,                                                \
      int m,                                                                  \
      const Api* dl,                                                          \
      const Api* d,                                                           \
      const Api* du,                                                          \
      const Api* x,                                                           \
      int count,                                                              \
      int stride,                                                             \
      std::size_t* size) {                                                    \
    return answer_work_size(                                                  \
        check_systems(                                                        \
            handle, of_batch(type, m, {dl, d, du}, x, count, stride)),        \
        size);                                                                \
  }                                                                           \
  cusparseStatus_t cusparse##L##gtsv2StridedBatch(                            \
      cusparseHandle_t handle,                                                \
      int m,                                                                  \
      const Api* dl,                                                          \
      const Api* d,                                                           \
      const Api* du,                                                          \
      Api* x,                                                                 \
      int count,                                                              \
      int stride,                                                             \
      void*) {                                                                \
    return submit_systems(                                                    \
        __func__, handle, of_batch(type, m, {dl, d, du}, x, count, stride));  \
  }                                                                           \
  cusparseStatus_t cusparse##L##gtsvInterleavedBatch_bufferSizeExt(           \
      cusparseHandle_t handle,                                                \
      int algorithm,                                                          \
      int m,                                                                  \
      const Api* dl,                                                          \
      const Api* d,                                                           \
      const Api* du,                                                          \
      const Api* x,                                                           \
      int count,                                                              \
      std::size_t* size) {                                                    \
    return answer_work_size(                                                  \
        check_systems(                                                        \
            handle,                                                           \
            interleaved(                                                      \
                type,                                                         \
                m,                                                            \
                {dl, d, du},                                                  \
                x,                                                            \
                count,                                                        \
                algorithm >= 0 && algorithm <= 2)),                           \
        size);                                                                \
  }                                                                           \
  cusparseStatus_t cusparse##L##gtsvInterleavedBatch(                         \
      cusparseHandle_t handle,                                                \
      int algorithm,                                                          \
      int m,                                                                  \
      Api* dl,                                                                \
      Api* d,                                                                 \
      Api* du,                                                                \
      Api* x,                                                                 \
      int count,                                                              \
      void*) {                                                                \
    return submit_systems(                                                    \
        __func__,                                                             \
        handle,                                                               \
        interleaved(                                                          \
            type,                                                             \
            m,                                                                \
            {dl, d, du},                                                      \
            x,                                                                \
            count,                                                            \
            algorithm >= 0 && algorithm <= 2));                               \
  }                                                                           \
  cusparseStatus_t cusparse##L##gpsvInterleavedBatch_bufferSizeExt(           \
      cusparseHandle_t handle,                                                \
      int algorithm,                                                          \
      int m,                                                                  \
      const Api* ds,                                                          \
      const Api* dl,                                                          \
      const Api* d,                                                           \
      const Api* du,                                                          \
      const Api* dw,                                                          \
      const Api* x,                                                           \
      int count,                                                              \
      std::size_t* size) {                                                    \
    return answer_work_size(                                                  \
        check_systems(                                                        \
            handle,                                                           \
            interleaved(                                                      \
                type, m, {ds, dl, d, du, dw}, x, count, algorithm == 0)),     \
        size);                                                                \
  }                                                                           \
  cusparseStatus_t cusparse##L##gpsvInterleavedBatch(                         \
      cusparseHandle_t handle,                                                \
      int algorithm,                                                          \
      int m,                                                                  \
      Api* ds,                                                                \
      Api* dl,                                                                \
      Api* d,                                                                 \
      Api* du,                                                                \
      Api* dw,                                                                \
      Api* x,                                                                 \
      int count,                                                              \
      void*) {                                                                \
    return submit_systems(                                                    \
        __func__,                                                             \
        handle,                                                               \
        interleaved(type, m, {ds, dl, d, du, dw}, x, count, algorithm == 0)); \
  }
ACCEL_API(S, float, CUDA_R_32F)
ACCEL_API(D, double, CUDA_R_64F)
ACCEL_API(C, cuComplex, CUDA_C_32F)
ACCEL_API(Z, cuDoubleComplex, CUDA_C_64F)
#undef ACCEL_API
#undef ACCEL_COLUMNS

} // extern "C"
