// What calls of the CUDA API answer. CUDA's runtime and driver share most
// numbers; the runtime's enumeration is the larger one and is used here.
#pragma once

#include <driver_types.h>

#include <exception>
#include <string>

namespace accelerator::runtime {

using Status = cudaError_t;

/// A call that cannot be carried out. What it throws ends at the border of the
/// C interface, which returns status() and prints a message if there is one.
class Failure : public std::exception {
 public:
  explicit Failure(Status status, std::string message = {})
      : status_(status), message_(std::move(message)) {}
  Status status() const {
    return status_;
  }
  /// One line (or a report of several); empty when the status says it all.
  const std::string& message() const {
    return message_;
  }
  const char* what() const noexcept override {
    return message_.c_str();
  }

 private:
  Status status_;
  std::string message_;
};

/// Throws a Failure of that status unless the condition holds.
inline void require(bool condition, Status status = cudaErrorInvalidValue) {
  if (!condition) {
    throw Failure(status);
  }
}

/// Writes a message to stderr, each line with the prefix "torch_cuda: ".
void report(const std::string& message) noexcept;

} // namespace accelerator::runtime
