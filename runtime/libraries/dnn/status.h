// What calls of cuDNN's API answer, and where exceptions end.
#pragma once

#include <cudnn.h>

#include <exception>
#include <functional>
#include <string>

namespace accelerator::dnn {

/// A call that is refused. What it throws ends at the border of the C
/// interface, which returns the status and keeps the message for
/// cudnnGetLastErrorString().
class Refusal : public std::exception {
 public:
  Refusal(cudnnStatus_t status, std::string message)
      : status_(status), message_(std::move(message)) {}
  cudnnStatus_t status() const {
    return status_;
  }
  const char* what() const noexcept override {
    return message_.c_str();
  }

 private:
  cudnnStatus_t status_;
  std::string message_;
};

/// Throws a Refusal unless the condition holds.
inline void require(bool condition, cudnnStatus_t status, const char* message) {
  if (!condition) {
    throw Refusal(status, message);
  }
}

/// An argument that is not as it has to be.
inline void require_valid(bool condition, const char* message) {
  require(condition, CUDNN_STATUS_BAD_PARAM, message);
}

/// What NVIDIA's library or this one does not have.
inline void require_supported(bool condition, const char* message) {
  require(condition, CUDNN_STATUS_NOT_SUPPORTED, message);
}

template <typename... T>
void require_pointers(const T*... pointers) {
  require(
      (... && (pointers != nullptr)),
      CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
      "a pointer is null");
}

/// Runs a function's body.
/// @returns success, or what the body was refused with.
cudnnStatus_t guarded(
    const char* function,
    const std::function<void()>& body) noexcept;

/// What the calling thread's last refusal said, which is forgotten then.
std::string take_last_error();

} // namespace accelerator::dnn
