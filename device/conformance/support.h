// What the contract tests share: the library under test, expectations about
// statuses, and copies that are waited for.
//
// The environment names the library (ACCEL_LIBRARY, ACCEL_OPTIONS); the flags
// --library and --options of the program do as well.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/abi/library.h"
#include "device/abi/objects.h"

namespace accelerator::conformance {

/// The library under test, opened and initialized when first asked for.
Library& library();
/// Finalizes it, if it was opened.
accel_status close_library();
/// Its functions.
const accel_api& api();
/// How many devices it has.
int32_t devices();

/// Whether a status is the one that is expected; texts of errors are checked.
testing::AssertionResult is(
    accel_status found,
    accel_status expected,
    const char* call);
#define EXPECT_STATUS(expected, call) \
  EXPECT_TRUE(::accelerator::conformance::is(call, expected, #call))
#define ASSERT_STATUS(expected, call) \
  ASSERT_TRUE(::accelerator::conformance::is(call, expected, #call))
#define EXPECT_OK(call) EXPECT_STATUS(ACCEL_OK, call)
#define ASSERT_OK(call) ASSERT_STATUS(ACCEL_OK, call)

/// Expects that the last error of this thread names all of the words.
void expect_text(const std::vector<std::string>& words);

/// The environment's path and options.
std::string library_path();
std::string library_options();

/// Ends the test, skipped by name, when a device lacks a capability.
#define NEEDS(device, capability)                                     \
  if (!::accelerator::conformance::library().has(device, capability)) \
  GTEST_SKIP() << "device " << (device) << " has no " #capability
/// Ends the test when there are not as many devices.
#define NEEDS_DEVICES(count)                           \
  if (::accelerator::conformance::devices() < (count)) \
  GTEST_SKIP() << "needs " << (count) << " devices"

/// Ends the test when a device does not have so much memory free.
#define NEEDS_MEMORY(device, bytes)                              \
  if (::accelerator::conformance::free_memory(device) < (bytes)) \
  GTEST_SKIP() << "needs " << (bytes) << " bytes of memory"
uint64_t free_memory(int32_t device);

/// Runs a test in a process of its own, whose library gets options besides; the
/// test begins with it. Libraries that do not know them skip the test.
#define IN_PROCESS_WITH(options)                                \
  if (!::accelerator::conformance::is_in_process_with(options)) \
  return
/// @param open whether the library is opened before the test begins.
bool is_in_process_with(const std::string& options, bool open = true);

/// Runs one test of this program in a process of its own.
/// @param name "Suite.Test", @param variables more environment.
/// @returns its exit status, as waitpid() has it.
int run_test(
    const std::string& name,
    const std::vector<std::string>& variables);

/// Bytes that differ from their neighbours and from those of other seeds.
std::vector<unsigned char> bytes(uint64_t count, unsigned seed = 1);

/// One row from one place to another.
accel_copy row(
    void* to,
    int32_t to_device,
    const void* from,
    int32_t from_device,
    uint64_t width);
/// One row of elements.
accel_fill elements(void* to, uint32_t value, uint32_t size, uint64_t width);

/// Copies to a device and from it, and waits.
void write(
    accel_stream stream,
    const Memory& to,
    const std::vector<unsigned char>& from);
std::vector<unsigned char> read(accel_stream stream, const Memory& from);

/// Holds a stream at a callback until it is opened, at its end if not before.
class Gate {
 public:
  Gate() = default;
  ~Gate() {
    open();
  }
  /// Puts the callback in.
  void close(accel_stream stream);
  void open();
  /// Until a stream has come to the callback.
  void wait_until_reached();

 private:
  /// The callback's as well: it may end after the gate.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    bool reached = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A stream of device 0 for each test.
class Device : public testing::Test {
 protected:
  Device() : stream(api(), 0) {}
  ~Device() override {
    api().stream_synchronize(stream);
  }

  Stream stream;
};

} // namespace accelerator::conformance
