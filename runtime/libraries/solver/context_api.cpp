// Handles and parameters, and what the library says of itself.
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include "runtime/libraries/solver/context.h"
#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {
namespace {

/// Waits for the work that has the answer, which may be in another stream than
/// the handle's of now.
cusolverStatus_t residual_of(
    const char*,
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
    const char* function,
    cusolverDnHandle_t handle,
    const JacobiInfo* info,
    int* sweeps) {
  double residual = 0;
  if (sweeps == nullptr) {
    return handle == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED
                             : CUSOLVER_STATUS_INVALID_VALUE;
  }
  const cusolverStatus_t status =
      residual_of(function, handle, info, &residual);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    *sweeps = 1;
  }
  return status;
}

/// The host computes the same bits each time, whatever the mode.
cusolverStatus_t set_mode(
    const char* function,
    cusolverDnHandle_t handle,
    cusolverDeterministicMode_t mode) {
  if (handle != nullptr && mode != CUSOLVER_DETERMINISTIC_RESULTS &&
      mode != CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return set<&cusolverDnContext::mode>(function, handle, mode);
}

/// There is one algorithm for each.
cusolverStatus_t set_algorithm(
    const char*,
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

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINT(1, cusolverDnCreate, create_handle)
ENTRY_POINT(1, cusolverDnDestroy, destroy)
ENTRY_POINT(2, cusolverDnSetStream, set<&cusolverDnContext::stream>)
ENTRY_POINT(2, cusolverDnGetStream, get<&cusolverDnContext::stream>)
ENTRY_POINT(2, cusolverDnSetDeterministicMode, set_mode)
ENTRY_POINT(2, cusolverDnGetDeterministicMode, get<&cusolverDnContext::mode>)
ENTRY_POINT(1, cusolverDnCreateParams, create)
ENTRY_POINT(1, cusolverDnDestroyParams, destroy)
ENTRY_POINT(3, cusolverDnSetAdvOptions, set_algorithm)

ENTRY_POINT(1, cusolverDnCreateSyevjInfo, create)
ENTRY_POINT(1, cusolverDnDestroySyevjInfo, destroy)
ENTRY_POINT(2, cusolverDnXsyevjSetTolerance, set<&JacobiInfo::tolerance>)
ENTRY_POINT(2, cusolverDnXsyevjSetMaxSweeps, set<&JacobiInfo::max_sweeps>)
ENTRY_POINT(2, cusolverDnXsyevjSetSortEig, set<&JacobiInfo::is_sorted>)
ENTRY_POINT(3, cusolverDnXsyevjGetResidual, residual_of)
ENTRY_POINT(3, cusolverDnXsyevjGetSweeps, sweeps_of)
ENTRY_POINT(1, cusolverDnCreateGesvdjInfo, create)
ENTRY_POINT(1, cusolverDnDestroyGesvdjInfo, destroy)
ENTRY_POINT(2, cusolverDnXgesvdjSetTolerance, set<&JacobiInfo::tolerance>)
ENTRY_POINT(2, cusolverDnXgesvdjSetMaxSweeps, set<&JacobiInfo::max_sweeps>)
ENTRY_POINT(2, cusolverDnXgesvdjSetSortEig, set<&JacobiInfo::is_sorted>)
ENTRY_POINT(3, cusolverDnXgesvdjGetResidual, residual_of)
ENTRY_POINT(3, cusolverDnXgesvdjGetSweeps, sweeps_of)

extern "C" {

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
