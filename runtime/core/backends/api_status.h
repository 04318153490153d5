// What a device's library answers, in CUDA's terms.
#pragma once

#include "device/abi/device_api.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {

/// The status of CUDA that says the same.
Status status_of(accel_status status);
/// The fault of the ABI that comes nearest to a status of CUDA.
accel_status fault_of(Status status);

/// @throws Failure unless a call succeeded, with the library's text where that
/// says more than the status.
void check(const accel_api& api, accel_status status);

} // namespace accelerator::runtime
