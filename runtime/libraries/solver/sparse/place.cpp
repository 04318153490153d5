#include "runtime/libraries/solver/sparse/place.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

namespace accelerator::solver::sparse {
namespace {

cusolverStatus_t status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return CUSOLVER_STATUS_SUCCESS;
    case cudaErrorNotSupported:
      return CUSOLVER_STATUS_NOT_SUPPORTED;
    case cudaErrorMemoryAllocation:
      return CUSOLVER_STATUS_ALLOC_FAILED;
    case cudaErrorInvalidValue:
      return CUSOLVER_STATUS_INVALID_VALUE;
    default:
      return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
}

bool are_accessible(const char* function, const std::vector<Extent>& extents) {
  return std::all_of(
      extents.begin(), extents.end(), [function](const Extent& extent) {
        return accessible(function, {extent});
      });
}

} // namespace

cusolverStatus_t check_sparse(
    cusolverSpHandle_t handle,
    std::initializer_list<bool> good) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  const bool all = std::all_of(
      good.begin(), good.end(), [](bool condition) { return condition; });
  return all ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t perform(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    const std::vector<Extent>& inputs,
    const std::vector<Extent>& outputs,
    std::function<bool()> work) {
  if (place == Place::kHost) {
    return status_of(stream_work::without_exceptions(function, [&] {
      return work() ? cudaSuccess : cudaErrorInvalidValue;
    }));
  }
  if (!are_accessible(function, inputs) || !are_accessible(function, outputs)) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  const cudaError_t error = stream_work::enqueue_checked(
      function, handle->stream, [function, inputs, work = std::move(work)] {
        return stream_work::without_exceptions(function, [&] {
          reads(std::vector<Read>(inputs.begin(), inputs.end()));
          return work() ? cudaSuccess : cudaErrorIllegalAddress;
        });
      });
  return error == cudaSuccess || error == cudaErrorNotSupported
      ? status_of(error)
      : CUSOLVER_STATUS_EXECUTION_FAILED;
}

cusolverStatus_t perform_and_wait(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    const std::vector<Extent>& inputs,
    const std::vector<Extent>& outputs,
    std::function<bool()> work) {
  const auto status =
      perform(function, handle, place, inputs, outputs, std::move(work));
  return status == CUSOLVER_STATUS_SUCCESS && place == Place::kDevice &&
          cudaStreamSynchronize(handle->stream) != cudaSuccess
      ? CUSOLVER_STATUS_EXECUTION_FAILED
      : status;
}

} // namespace accelerator::solver::sparse

using namespace accelerator::solver;

ENTRY_POINT(1, cusolverSpCreate, create_handle)
ENTRY_POINT(1, cusolverSpDestroy, destroy)
ENTRY_POINT(2, cusolverSpSetStream, set<&cusolverSpContext::stream>)
ENTRY_POINT(2, cusolverSpGetStream, get<&cusolverSpContext::stream>)
