// What calls answer, and the border where exceptions end.
// Source: NCCL API, types and fault tolerance.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <exception>
#include <string>
#include <utility>

/// Begins the definition of a function of the API, which NCCL also exports with
/// a "p" in front, for profilers.
#define ACCEL_NCCL_API(result, name, ...)                                \
  extern "C" result name(__VA_ARGS__) __attribute__((alias("p" #name))); \
  extern "C" result p##name(__VA_ARGS__)

namespace accelerator::nccl {

/// A call, or an operation on its stream, that cannot be carried out.
class Error : public std::exception {
 public:
  /// @param message one line: what was found, and what is needed.
  Error(ncclResult_t result, std::string message)
      : result_(result), message_(std::move(message)) {}
  ncclResult_t result() const {
    return result_;
  }
  const char* what() const noexcept override {
    return message_.c_str();
  }

 private:
  ncclResult_t result_;
  std::string message_;
};

/// Memory of another rank that cannot be opened.
class Unreachable : public Error {
 public:
  using Error::Error;
};

/// Throws an Error unless the condition holds.
void require(bool condition, ncclResult_t result, const std::string& message);

/// Throws an Error with ncclUnhandledCudaError unless the status is success.
void check(cudaError_t status);

/// Keeps a message for ncclGetLastError, and prints it when NCCL_DEBUG asks for
/// warnings.
void set_last_error(const std::string& message) noexcept;

/// The message of the last error of any thread; good until the calling thread
/// asks again.
const char* last_error() noexcept;

/// What the current exception is in the terms of the API; keeps its message.
ncclResult_t caught() noexcept;

/// Runs the body of a call; what it throws becomes its result.
template <typename Body>
ncclResult_t call(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return caught();
  }
}

} // namespace accelerator::nccl
