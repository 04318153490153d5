#include "runtime/libraries/dnn/status.h"

#include <new>
#include <utility>

namespace accelerator::dnn {
namespace {

thread_local std::string last_error;

cudnnStatus_t refuse(
    const char* function,
    cudnnStatus_t status,
    const char* why) noexcept {
  try {
    last_error = std::string(function) + ": " + why;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

} // namespace

cudnnStatus_t guarded(
    const char* function,
    const std::function<void()>& body) noexcept {
  try {
    body();
    return CUDNN_STATUS_SUCCESS;
  } catch (const Refusal& refusal) {
    return refuse(function, refusal.status(), refusal.what());
  } catch (const std::bad_alloc&) {
    return refuse(
        function,
        CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
        "out of host memory");
  } catch (const std::exception& error) {
    return refuse(function, CUDNN_STATUS_INTERNAL_ERROR, error.what());
  }
}

std::string take_last_error() {
  return std::exchange(last_error, {});
}

} // namespace accelerator::dnn
