// Handles and parameters, and what the library says of itself.
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include "runtime/libraries/solver/context.h"
#include "runtime/libraries/solver/objects.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::solver {
namespace {

/// Waits for the work that has the answer, which may be in another stream than
/// the handle's of now.
cusolverStatus_t residual_of(
    cusolverDnHandle_t handle,
    const JacobiInfo* info,
    double* residual) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  if (info == nullptr || residual == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  // There is none of batches.
  if (info->residual == nullptr) {
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  *residual = *info->residual;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t sweeps_of(
    cusolverDnHandle_t handle,
    const JacobiInfo* info,
    int* sweeps) {
  double residual = 0;
  if (sweeps == nullptr) {
    return handle == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED
                             : CUSOLVER_STATUS_INVALID_VALUE;
  }
  const cusolverStatus_t status = residual_of(handle, info, &residual);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    *sweeps = 1;
  }
  return status;
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (accelerator::stream_work::make_context() != cudaSuccess) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  return create(handle);
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return handle == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED : destroy(handle);
}

cusolverStatus_t cusolverDnSetStream(
    cusolverDnHandle_t handle,
    cudaStream_t stream) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGetStream(
    cusolverDnHandle_t handle,
    cudaStream_t* stream) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  return change(stream, [&](cudaStream_t& its) { its = handle->stream; });
}

// The host computes the same bits each time, whatever the mode.
cusolverStatus_t cusolverDnSetDeterministicMode(
    cusolverDnHandle_t handle,
    cusolverDeterministicMode_t mode) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  if (mode != CUSOLVER_DETERMINISTIC_RESULTS &&
      mode != CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  handle->mode = mode;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGetDeterministicMode(
    cusolverDnHandle_t handle,
    cusolverDeterministicMode_t* mode) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  return change(
      mode, [&](cusolverDeterministicMode_t& its) { its = handle->mode; });
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  return create(params);
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  return destroy(params);
}

// There is one algorithm for each.
cusolverStatus_t cusolverDnSetAdvOptions(
    cusolverDnParams_t params,
    cusolverDnFunction_t function,
    cusolverAlgMode_t algorithm) {
  if ((function != CUSOLVERDN_GETRF && function != CUSOLVERDN_POTRF) ||
      algorithm < CUSOLVER_ALG_0 || algorithm > CUSOLVER_ALG_2) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return change(params, [&](cusolverDnParams& its) {
    its.algorithms[function] = algorithm;
  });
}

#define ACCEL_JACOBI(name, Info)                                              \
  cusolverStatus_t cusolverDnCreate##Info(name##Info_t* info) {               \
    return create(info);                                                      \
  }                                                                           \
  cusolverStatus_t cusolverDnDestroy##Info(name##Info_t info) {               \
    return destroy(info);                                                     \
  }                                                                           \
  cusolverStatus_t cusolverDnX##name##SetTolerance(                           \
      name##Info_t info, double tolerance) {                                  \
    return change(info, [&](JacobiInfo& its) { its.tolerance = tolerance; }); \
  }                                                                           \
  cusolverStatus_t cusolverDnX##name##SetMaxSweeps(                           \
      name##Info_t info, int max_sweeps) {                                    \
    return change(                                                            \
        info, [&](JacobiInfo& its) { its.max_sweeps = max_sweeps; });         \
  }                                                                           \
  cusolverStatus_t cusolverDnX##name##SetSortEig(                             \
      name##Info_t info, int is_sorted) {                                     \
    return change(                                                            \
        info, [&](JacobiInfo& its) { its.is_sorted = is_sorted != 0; });      \
  }                                                                           \
  cusolverStatus_t cusolverDnX##name##GetResidual(                            \
      cusolverDnHandle_t handle, name##Info_t info, double* residual) {       \
    return residual_of(handle, info, residual);                               \
  }                                                                           \
  cusolverStatus_t cusolverDnX##name##GetSweeps(                              \
      cusolverDnHandle_t handle, name##Info_t info, int* executed_sweeps) {   \
    return sweeps_of(handle, info, executed_sweeps);                          \
  }
ACCEL_JACOBI(syevj, SyevjInfo)
ACCEL_JACOBI(gesvdj, GesvdjInfo)
#undef ACCEL_JACOBI

cusolverStatus_t cusolverGetVersion(int* version) {
  return change(version, [](int& its) { its = CUSOLVER_VERSION; });
}

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  constexpr int kParts[] = {
      CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
  if (type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return change(value, [&](int& its) { its = kParts[type]; });
}

} // extern "C"
