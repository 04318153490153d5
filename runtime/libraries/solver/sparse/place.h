// cuSOLVER's sparse handle, and where its functions compute: on arrays of the
// host at once, on those of the device in the handle's stream.
#pragma once

#include <cusolverSp.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "runtime/libraries/solver/objects.h"
#include "runtime/libraries/solver/submit.h"

struct cusolverSpContext {
  cudaStream_t stream = nullptr;
};

template <>
inline constexpr cusolverStatus_t
    accelerator::solver::kMissing<cusolverSpContext> =
        CUSOLVER_STATUS_NOT_INITIALIZED;

namespace accelerator::solver::sparse {

enum class Place { kHost, kDevice };

/// The bytes that a work area has to have, which is not used.
constexpr std::size_t kWorkBytes = 16;

/// CUSOLVER_STATUS_NOT_INITIALIZED without a handle,
/// CUSOLVER_STATUS_INVALID_VALUE where something is not as it should be.
cusolverStatus_t check_sparse(
    cusolverSpHandle_t handle,
    std::initializer_list<bool> good);

/// Does work, or puts it into the stream.
/// @param inputs, outputs on the device, if that is the place.
/// @param work returns whether the indices that it read were within the matrix.
/// On the host the call is invalid otherwise, and the device is at fault.
cusolverStatus_t perform(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    const std::vector<Extent>& inputs,
    const std::vector<Extent>& outputs,
    std::function<bool()> work);

/// The same for work whose result the host needs: waits for the stream.
cusolverStatus_t perform_and_wait(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    const std::vector<Extent>& inputs,
    const std::vector<Extent>& outputs,
    std::function<bool()> work);

} // namespace accelerator::solver::sparse
