// Some of a symmetric matrix's eigenvalues. LAPACK finds all of them, in
// ascending order; those that are wanted, and their vectors, move to the front.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {

/// Which are wanted.
template <typename Real>
struct Range {
  cusolverEigRange_t kind;
  /// CUSOLVER_EIG_RANGE_V: those that are above the one and at most the other.
  Real above;
  Real at_most;
  /// CUSOLVER_EIG_RANGE_I: from the one to the other, counted from 1.
  std::int64_t first;
  std::int64_t last;

  bool is_valid(int n) const {
    switch (kind) {
      case CUSOLVER_EIG_RANGE_ALL:
        return true;
      case CUSOLVER_EIG_RANGE_I:
        return n == 0 || (first >= 1 && first <= last && last <= n);
      case CUSOLVER_EIG_RANGE_V:
        return above < at_most;
    }
    return false;
  }
  /// How many these are at the most.
  std::int64_t most(int n) const {
    return kind == CUSOLVER_EIG_RANGE_I && n > 0 ? last - first + 1 : n;
  }
};

/// Puts what is wanted of sorted eigenvalues where it belongs. The values above
/// follow, which NVIDIA's samples compare: cuSOLVER has a place for all of
/// them.
/// @param vectors one for each of `all`, of as many elements; null where none
/// are wanted.
/// @returns how many these are.
template <typename T>
std::int64_t keep(
    const Range<RealOf<T>>& range,
    const std::vector<RealOf<T>>& all,
    RealOf<T>* values,
    T* vectors,
    int leading) {
  auto begin = all.begin(), end = all.end();
  if (range.kind == CUSOLVER_EIG_RANGE_I && !all.empty()) {
    begin = all.begin() + (range.first - 1);
    end = all.begin() + range.last;
  } else if (range.kind == CUSOLVER_EIG_RANGE_V) {
    begin = std::upper_bound(all.begin(), all.end(), range.above);
    end = std::upper_bound(begin, all.end(), range.at_most);
  }
  std::copy(begin, all.end(), values);
  const std::ptrdiff_t before = begin - all.begin();
  for (std::ptrdiff_t j = 0; vectors != nullptr && j < end - begin; ++j) {
    std::copy_n(
        vectors + (before + j) * leading, all.size(), vectors + j * leading);
  }
  return end - begin;
}

/// A function whose count of values found is the host's.
/// @param work is given a place for the count.
template <typename Real, typename Count, typename Submit>
cusolverStatus_t submit_counted(
    cusolverDnHandle_t handle,
    const Range<Real>& range,
    int n,
    Count* count,
    Submit work) {
  // Which values lie in an interval is known when they are.
  const bool waits = range.kind == CUSOLVER_EIG_RANGE_V;
  if (!waits) {
    *count = static_cast<Count>(range.most(n));
  }
  const cusolverStatus_t status = work(waits ? count : nullptr);
  if (status == CUSOLVER_STATUS_SUCCESS && waits &&
      cudaStreamSynchronize(handle->stream) != cudaSuccess) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  return status;
}

} // namespace accelerator::solver
