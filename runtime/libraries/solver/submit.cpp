#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {

cusolverStatus_t check(
    cusolverDnHandle_t handle,
    std::initializer_list<bool> good) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  const bool all = std::all_of(
      good.begin(), good.end(), [](bool condition) { return condition; });
  return all ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t answer_work_size(
    cusolverStatus_t checked,
    std::size_t,
    int* size,
    const JacobiInfo*,
    int count) {
  if (checked != CUSOLVER_STATUS_SUCCESS) {
    return checked;
  }
  if (size == nullptr || count < 0) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *size = kWorkSize;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t answer_work_size(
    cusolverStatus_t checked,
    std::size_t element_bytes,
    std::size_t* device_bytes,
    std::size_t* host_bytes) {
  if (checked != CUSOLVER_STATUS_SUCCESS) {
    return checked;
  }
  if (device_bytes == nullptr || host_bytes == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *device_bytes = kWorkSize * element_bytes;
  *host_bytes = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t submit_any(
    const char* function,
    cusolverDnHandle_t handle,
    std::initializer_list<Extent> extents,
    std::function<bool(const blas::HostLapack&)> work) {
  if (!accessible(function, extents)) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  const cudaError_t error = stream_work::enqueue_checked(
      function, handle->stream, [function, work = std::move(work)] {
        return stream_work::without_exceptions(function, [&] {
          return work(*accel_host_lapack()) ? cudaSuccess
                                            : cudaErrorIllegalAddress;
        });
      });
  if (error == cudaErrorNotSupported) {
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS
                              : CUSOLVER_STATUS_EXECUTION_FAILED;
}

} // namespace accelerator::solver
