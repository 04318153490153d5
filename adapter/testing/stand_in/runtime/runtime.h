// What the files of the runtime share: the device's library, and how functions
// answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "device/abi/library.h"
#include "stand_runtime_api.h"

struct standStream_st {
  int device;
  int priority;
  accel_stream stream;
};

namespace stand {

/// Of a block.
constexpr int kMostThreads = 1024;
/// Threads that are called a warp; nothing is done by warps.
constexpr int kWarp = 32;

/// An error of a function.
struct Failure {
  standError_t error;
  std::string message;
};

/// The devices that this process sees, numbered from 0. Made at first use.
class Runtime {
 public:
  /// @throws Failure when there is no library, or in a child of fork().
  static Runtime& get();

  int count() const {
    return static_cast<int>(visible_.size());
  }
  /// The library's number of a device. @throws Failure for none.
  int32_t number(int device) const;
  /// The device that the library numbers so.
  int device_of(int32_t number) const;
  const accel_properties& properties(int device) const;
  bool host_sees(int device) const;
  const accel_api& api() const {
    return library_.api();
  }
  /// The stream of a handle; null: the current device's default one.
  standStream_st& stream(standStream_t handle);
  standStream_st* new_stream(int device, int priority);

 private:
  Runtime();
  standStream_st& default_stream(int device);

  accelerator::Library library_;
  std::vector<int32_t> visible_;
  std::vector<standStream_st*> default_streams_;
  int process_;
};

/// Puts work into a stream of its device.
using Work = std::function<void(standStream_st&)>;

/// Puts work into a stream, and tells the recorder if there is one.
void put(standStream_st& stream, Work work);

/// The calling thread's device.
int& current_device();

/// @throws Failure for what is neither ACCEL_OK nor ACCEL_NOT_READY.
void check(accel_status status);
/// The answer to a question whether work is done. @throws Failure
standError_t readiness(accel_status status);

/// @throws Failure
void need(bool condition, standError_t error, const char* message);

/// Remembers an error of the calling thread, and gives it back.
standError_t remember(standError_t error, const std::string& message);
/// The error of the exception that is being handled.
standError_t caught();

/// Runs the body of a function of the API.
template <class Body>
standError_t answer(const Body& body) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return standSuccess;
    } else {
      return body();
    }
  } catch (...) {
    return caught();
  }
}

} // namespace stand
