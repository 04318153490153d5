// Where a matrix has no pivot: what is asked of analyses, solutions and
// factorizations.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {

constexpr int kNoPivot = -1;

/// Positions of rows, or of blocks on the diagonal, with the base.
struct Zeros {
  /// The first that is missing, which the analysis found.
  std::atomic<int> structural{kNoPivot};
  /// The first that is missing or singular, as of the last work.
  std::atomic<int> first{kNoPivot};
};

struct Pivot {
  /// Work in streams has them too.
  std::shared_ptr<Zeros> zeros = std::make_shared<Zeros>();
};

/// The lower of two positions, each of which may be kNoPivot.
inline int first_of(int a, int b) {
  return a == kNoPivot ? b : b == kNoPivot ? a : std::min(a, b);
}

/// Waits for the device: the work that knows may be in another stream than the
/// handle's of now. Source: cuSPARSE API, "cusparseXbsrsv2_zeroPivot".
inline cusparseStatus_t zero_pivot(
    const char* function,
    cusparseHandle_t handle,
    const Pivot* info,
    int* position) {
  if (const auto status = check(handle, {valid(are_there(info, position))});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const bool on_host = handle->pointer_mode == CUSPARSE_POINTER_MODE_HOST;
  if (!on_host && !Memory(array(position, sizeof(int), 1)).is_there(function)) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  *position = info->zeros->first;
  return *position == kNoPivot ? CUSPARSE_STATUS_SUCCESS
                               : CUSPARSE_STATUS_ZERO_PIVOT;
}

} // namespace accelerator::sparse
