// Errors: what functions answer, and what they were about.
#include <exception>
#include <new>

#include "adapter/testing/stand_in/runtime/runtime.h"

namespace stand {
namespace {

struct Last {
  standError_t error = standSuccess;
  std::string message = "no error";
};

Last& last() {
  static thread_local Last last;
  return last;
}

standError_t error_of(accel_status status) {
  switch (status) {
    case ACCEL_OK:
      return standSuccess;
    case ACCEL_NOT_READY:
      return standErrorNotReady;
    case ACCEL_INVALID_ARGUMENT:
      return standErrorInvalidValue;
    case ACCEL_OUT_OF_MEMORY:
      return standErrorMemoryAllocation;
    case ACCEL_NOT_SUPPORTED:
      return standErrorNotSupported;
    case ACCEL_NO_DEVICE:
      return standErrorInvalidDevice;
    default:
      return ACCEL_IS_FAULT(status) ? standErrorLaunchFailure
                                    : standErrorUnknown;
  }
}

} // namespace

void check(accel_status status) {
  if (status != ACCEL_OK && status != ACCEL_NOT_READY) {
    throw Failure{error_of(status), Runtime::get().api().last_error()};
  }
}

standError_t readiness(accel_status status) {
  check(status);
  return status == ACCEL_NOT_READY
      ? remember(standErrorNotReady, "work is not done yet")
      : standSuccess;
}

void need(bool condition, standError_t error, const char* message) {
  if (!condition) {
    throw Failure{error, message};
  }
}

standError_t remember(standError_t error, const std::string& message) {
  last() = {error, message};
  return error;
}

standError_t caught() {
  try {
    throw;
  } catch (const Failure& failure) {
    return remember(failure.error, failure.message);
  } catch (const accelerator::StatusError& error) {
    return remember(error_of(error.status()), error.what());
  } catch (const std::bad_alloc&) {
    return remember(standErrorMemoryAllocation, "the host has no memory left");
  } catch (const std::exception& error) {
    return remember(standErrorInitializationError, error.what());
  }
}

} // namespace stand

namespace {

struct Text {
  standError_t error;
  const char* name;
  const char* text;
};

constexpr Text kTexts[] = {
    {standSuccess, "standSuccess", "no error"},
    {standErrorInvalidValue, "standErrorInvalidValue", "invalid argument"},
    {standErrorMemoryAllocation, "standErrorMemoryAllocation", "out of memory"},
    {standErrorInitializationError,
     "standErrorInitializationError",
     "initialization error"},
    {standErrorInvalidConfiguration,
     "standErrorInvalidConfiguration",
     "invalid configuration argument"},
    {standErrorNoDevice, "standErrorNoDevice", "no stand-in device is visible"},
    {standErrorInvalidDevice,
     "standErrorInvalidDevice",
     "invalid device ordinal"},
    {standErrorPeerAccessUnsupported,
     "standErrorPeerAccessUnsupported",
     "peer access is not possible between these two devices"},
    {standErrorInvalidResourceHandle,
     "standErrorInvalidResourceHandle",
     "invalid resource handle"},
    {standErrorNotReady, "standErrorNotReady", "work is not done yet"},
    {standErrorHostMemoryAlreadyRegistered,
     "standErrorHostMemoryAlreadyRegistered",
     "part or all of the memory is registered already"},
    {standErrorHostMemoryNotRegistered,
     "standErrorHostMemoryNotRegistered",
     "the memory is not registered"},
    {standErrorLaunchFailure,
     "standErrorLaunchFailure",
     "the device is at fault"},
    {standErrorNotSupported, "standErrorNotSupported", "not supported"},
    {standErrorUnknown, "standErrorUnknown", "unknown error"},
};

const Text& text_of(standError_t error) {
  for (const auto& text : kTexts) {
    if (text.error == error) {
      return text;
    }
  }
  return text_of(standErrorUnknown);
}

} // namespace

const char* standGetErrorName(standError_t error) {
  return text_of(error).name;
}

const char* standGetErrorString(standError_t error) {
  return text_of(error).text;
}

standError_t standGetLastError() {
  const auto error = stand::last().error;
  stand::last().error = standSuccess;
  return error;
}

standError_t standPeekAtLastError() {
  return stand::last().error;
}

const char* standGetLastErrorMessage() {
  return stand::last().message.c_str();
}
