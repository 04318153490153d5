// What functions of a C interface have in common: where exceptions end, and how
// results are handed out.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {

/// Runs a body and gives its outcome as a status; what was thrown is reported
/// on stderr if it has something to say.
template <typename Body>
Status guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return cudaSuccess;
  } catch (const Failure& failure) {
    if (!failure.message().empty()) {
      report(failure.message());
    }
    return failure.status();
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    report(error.what());
    return cudaErrorUnknown;
  }
}

/// Stores a result where the caller wants it.
/// @throws Failure: cudaErrorInvalidValue for a null pointer.
template <typename T, typename Value>
void store(T* place, Value&& value) {
  require(place != nullptr);
  *place = std::forward<Value>(value);
}

/// Says once for each function that this runtime does not have it.
/// @param name a string that lives as long as the process.
void report_missing(const char* name) noexcept;

} // namespace accelerator::runtime
