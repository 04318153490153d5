#include "runtime/core/backends/api_status.h"

#include <utility>

namespace accelerator::runtime {
namespace {

constexpr std::pair<accel_status, Status> kStatuses[] = {
    {ACCEL_OK, cudaSuccess},
    {ACCEL_NOT_READY, cudaErrorNotReady},
    {ACCEL_INVALID_ARGUMENT, cudaErrorInvalidValue},
    {ACCEL_OUT_OF_MEMORY, cudaErrorMemoryAllocation},
    {ACCEL_NOT_SUPPORTED, cudaErrorNotSupported},
    {ACCEL_NO_DEVICE, cudaErrorInvalidDevice},
    {ACCEL_NOT_FOUND, cudaErrorSymbolNotFound},
    {ACCEL_INVALID_IMAGE, cudaErrorInvalidKernelImage},
    {ACCEL_INVALID_CODE, cudaErrorInvalidPtx},
    {ACCEL_NO_IMAGE_FOR_DEVICE, cudaErrorNoKernelImageForDevice},
    {ACCEL_ALREADY, cudaErrorHostMemoryAlreadyRegistered},
    {ACCEL_OTHER_ENDED, cudaErrorMapBufferObjectFailed},
    {ACCEL_UNKNOWN, cudaErrorUnknown},
    {ACCEL_LAUNCH_FAILURE, cudaErrorLaunchFailure},
    {ACCEL_DEVICE_LOST, cudaErrorDevicesUnavailable},
    {ACCEL_ILLEGAL_ADDRESS, cudaErrorIllegalAddress},
    {ACCEL_MISALIGNED_ADDRESS, cudaErrorMisalignedAddress},
    {ACCEL_ILLEGAL_INSTRUCTION, cudaErrorIllegalInstruction},
    {ACCEL_ASSERT, cudaErrorAssert},
    {ACCEL_LAUNCH_TIMEOUT, cudaErrorLaunchTimeout},
    {ACCEL_STACK_OVERFLOW, cudaErrorHardwareStackError},
    {ACCEL_UNSUPPORTED_CODE, cudaErrorNotSupported},
};

} // namespace

Status status_of(accel_status status) {
  for (const auto& [of_api, of_cuda] : kStatuses) {
    if (of_api == status) {
      return of_cuda;
    }
  }
  return cudaErrorUnknown;
}

accel_status fault_of(Status status) {
  for (const auto& [of_api, of_cuda] : kStatuses) {
    if (of_cuda == status && ACCEL_IS_FAULT(of_api)) {
      return of_api;
    }
  }
  return ACCEL_LAUNCH_FAILURE;
}

void check(const accel_api& api, accel_status status) {
  if (status == ACCEL_OK) {
    return;
  }
  // Memory that is short is the program's business, and a fault has been told
  // of when it came up.
  const bool plain = status == ACCEL_OUT_OF_MEMORY ||
      status == ACCEL_NOT_READY || status == ACCEL_INVALID_ARGUMENT ||
      ACCEL_IS_FAULT(status);
  throw Failure(status_of(status), plain ? "" : api.last_error());
}

} // namespace accelerator::runtime
