// Defines C functions with the signatures that CUDA's headers declare: those of
// an operation, and the variants in which stream 0 is the calling thread's own
// default stream. Used by the runtime and the driver.
#pragma once

#include "runtime/core/machine/thread_state.h"
#include "runtime/signatures/signature.h"

/// API_FUNCTION(n, name, operation) defines the C function `name`, which has n
/// parameters: `perform`, the library's own, hands them on to the operation.
#define API_FUNCTION(n, name, operation)                                       \
  extern "C" ACCEL_RESULT(name) name(ACCEL_EACH_##n(ACCEL_PARAMETER, name)) {  \
    return perform(__func__, operation, ACCEL_EACH_##n(ACCEL_ARGUMENT, name)); \
  }

/// PER_THREAD(n, name, suffix) defines name##suffix for a function `name` of n
/// parameters. Two levels, so that names that are macros are replaced first.
#define PER_THREAD(n, name, suffix) ACCEL_PER_THREAD(n, name, suffix)
#define ACCEL_PER_THREAD(n, name, suffix)                   \
  extern "C" ACCEL_RESULT(name)                             \
      name##suffix(ACCEL_EACH_##n(ACCEL_PARAMETER, name)) { \
    const accelerator::runtime::PerThreadDefault scope;     \
    return name(ACCEL_EACH_##n(ACCEL_ARGUMENT, name));      \
  }
