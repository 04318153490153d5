// Errors of the stand-in's runtime as PyTorch's.
#pragma once

#include <c10/macros/Macros.h>

#include "stand_runtime_api.h"

namespace c10::stand {

/// Throws c10::Error with the runtime's words if there is an error.
C10_API void check_error(standError_t error, const char* file, int line);

} // namespace c10::stand

#define C10_STAND_CHECK(call) \
  ::c10::stand::check_error((call), __FILE__, __LINE__)
#define C10_STAND_CHECK_WARN(call) ((void)(call))
/// Of the launch in front of it; faults of kernels come later.
#define C10_STAND_KERNEL_LAUNCH_CHECK() C10_STAND_CHECK(standGetLastError())
