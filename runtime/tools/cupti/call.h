// What the functions of CUPTI have in common.
#pragma once

#include <cupti.h>

#include <new>
#include <utility>

#include "runtime/core/status/status.h"

namespace accelerator::cupti {

/// What cuptiGetLastError answers to the calling thread.
CUptiResult& last_error();

/// Runs the body of a function: what it returns is returned, and remembered for
/// cuptiGetLastError unless it is a success.
/// @param body returns a CUptiResult.
template <typename Body>
CUptiResult call(Body&& body) noexcept {
  CUptiResult result = CUPTI_ERROR_UNKNOWN;
  try {
    result = std::forward<Body>(body)();
  } catch (const runtime::Failure& failure) {
    result = failure.status() == cudaErrorInvalidResourceHandle
        ? CUPTI_ERROR_INVALID_STREAM
        : CUPTI_ERROR_NOT_INITIALIZED;
  } catch (const std::bad_alloc&) {
    result = CUPTI_ERROR_OUT_OF_MEMORY;
  }
  if (result != CUPTI_SUCCESS) {
    last_error() = result;
  }
  return result;
}

} // namespace accelerator::cupti
