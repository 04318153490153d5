// The names and messages of the status codes.
#pragma once

namespace accelerator::runtime {

/// What is known of one status code.
struct StatusText {
  int code;
  const char* runtime_name; // "cudaErrorInvalidValue"
  const char* driver_name; // "CUDA_ERROR_INVALID_VALUE"; null: runtime only
  const char* message; // what cudaGetErrorString answers
};

/// The texts of a code; null for a number that CUDA 12.4 does not have.
const StatusText* status_text(int code) noexcept;

} // namespace accelerator::runtime
