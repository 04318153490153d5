// What the functions of matrices of 64-bit sizes share, whose types are
// arguments.
#pragma once

#include <cusolverDn.h>

#include <limits>

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {

/// Whether LAPACK can count it: its sizes have 32 bits.
inline bool is_countable(std::initializer_list<std::int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
    return size <= std::numeric_limits<int>::max();
  });
}

/// What a size is where it is too small for 32 bits: as wrong.
inline int narrow(std::int64_t size) {
  return size < 0 ? -1 : static_cast<int>(size);
}

inline cudaDataType real_of(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F
      : type == CUDA_C_64F  ? CUDA_R_64F
                            : type;
}

/// Calls with a number of the type that all of a matrix's are.
/// @param same other types of the call, which are to be the same.
template <typename Call>
cusolverStatus_t dispatch(
    cusolverDnHandle_t handle,
    cudaDataType type,
    std::initializer_list<cudaDataType> same,
    std::initializer_list<std::int64_t> sizes,
    Call call) {
  const bool are_same = std::all_of(
      same.begin(), same.end(), [&](cudaDataType its) { return its == type; });
  if (const auto status = check(handle, {are_same});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  if (!is_countable(sizes)) {
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  switch (type) {
    case CUDA_R_32F:
      return call(0.0F);
    case CUDA_R_64F:
      return call(0.0);
    case CUDA_C_32F:
      return call(std::complex<float>());
    case CUDA_C_64F:
      return call(std::complex<double>());
    default:
      return CUSOLVER_STATUS_INVALID_VALUE;
  }
}

/// What a function's work areas have to be.
template <typename T>
cusolverStatus_t answer(
    cusolverStatus_t checked,
    size_t* device_bytes,
    size_t* host_bytes) {
  if (checked != CUSOLVER_STATUS_SUCCESS) {
    return checked;
  }
  if (device_bytes == nullptr || host_bytes == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *device_bytes = kWorkSize * sizeof(T);
  *host_bytes = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

/// dispatch() for functions that are given a work area.
template <typename Call>
cusolverStatus_t dispatch_with_work(
    cusolverDnHandle_t handle,
    cudaDataType type,
    std::initializer_list<cudaDataType> same,
    std::initializer_list<std::int64_t> sizes,
    size_t work_bytes,
    Call call) {
  return dispatch(handle, type, same, sizes, [&](auto zero) {
    return work_bytes < kWorkSize * sizeof(zero) ? CUSOLVER_STATUS_INVALID_VALUE
                                                 : call(zero);
  });
}

} // namespace accelerator::solver
