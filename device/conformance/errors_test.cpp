// Errors: each argument that abi/device_api.h names as wrong, with its text.
#include <cstring>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Errors = Device;

/// Expects a status and a text that names the function and the value.
#define EXPECT_ERROR(expected, function, value, ...)      \
  do {                                                    \
    EXPECT_STATUS(expected, api().function(__VA_ARGS__)); \
    expect_text({#function, value});                      \
  } while (false)

TEST_F(Errors, AreNotedForEachThread) {
  void* address = nullptr;
  EXPECT_ERROR(
      ACCEL_NO_DEVICE,
      memory_allocate,
      std::to_string(devices()),
      devices(),
      1,
      0,
      &address);
  const std::string ours = api().last_error();
  std::thread([&] {
    ASSERT_NE(api().last_error(), nullptr);
    EXPECT_NE(api().last_error(), ours);
    EXPECT_ERROR(ACCEL_NO_DEVICE, device_status, "-7", -7);
  }).join();
  EXPECT_EQ(api().last_error(), ours);
}

TEST_F(Errors, OfDevicesThatThereAreNot) {
  for (int32_t device : {devices(), -1, INT32_MAX, INT32_MIN}) {
    const std::string value = std::to_string(device);
    accel_properties properties = {};
    properties.struct_size = sizeof properties;
    uint64_t free = 1, total = 2;
    void* address = this;
    accel_stream none = nullptr;
    accel_event no_event = nullptr;
    EXPECT_ERROR(
        ACCEL_NO_DEVICE, device_properties, value, device, &properties);
    EXPECT_EQ(properties.name[0], '\0');
    EXPECT_ERROR(ACCEL_NO_DEVICE, device_synchronize, value, device);
    EXPECT_ERROR(ACCEL_NO_DEVICE, device_status, value, device);
    EXPECT_ERROR(ACCEL_NO_DEVICE, device_reset, value, device);
    EXPECT_ERROR(
        ACCEL_NO_DEVICE, memory_allocate, value, device, 1, 0, &address);
    EXPECT_EQ(address, this);
    EXPECT_ERROR(ACCEL_NO_DEVICE, memory_free, value, device, &address);
    EXPECT_ERROR(ACCEL_NO_DEVICE, memory_info, value, device, &free, &total);
    EXPECT_EQ(free + total, 3u);
    EXPECT_ERROR(ACCEL_NO_DEVICE, stream_create, value, device, 0, &none);
    EXPECT_EQ(none, nullptr);
    EXPECT_ERROR(ACCEL_NO_DEVICE, event_create, value, device, 0, &no_event);
    EXPECT_EQ(no_event, nullptr);
  }
}

TEST_F(Errors, OfAllocations) {
  void* address = this;
  EXPECT_ERROR(ACCEL_INVALID_ARGUMENT, memory_allocate, "0", 0, 0, 0, &address);
  for (uint64_t alignment : {3, 6, 257, 1000})
    EXPECT_ERROR(
        ACCEL_INVALID_ARGUMENT,
        memory_allocate,
        std::to_string(alignment),
        0,
        1,
        alignment,
        &address);
  EXPECT_EQ(address, this);
}

TEST_F(Errors, OfFreeing) {
  int host = 0;
  EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().memory_free(0, &host));
  expect_text({"memory_free", "device 0"});
  Memory memory(api(), 0, 1000);
  EXPECT_STATUS(
      ACCEL_INVALID_ARGUMENT, api().memory_free(0, memory.get() + 256));
  void* address = memory.release();
  if (devices() > 1) {
    EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().memory_free(1, address));
  }
  EXPECT_OK(api().memory_free(0, address));
  EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().memory_free(0, address));
}

TEST_F(Errors, OfCopies) {
  Memory memory(api(), 0, 1000);
  const auto before = bytes(1000), other = bytes(1000, 2);
  write(stream, memory, before);
  const accel_copy good = row(memory.get(), 0, other.data(), ACCEL_HOST, 1000);
  accel_copy copy = good;
  copy.width = 0;
  EXPECT_ERROR(ACCEL_INVALID_ARGUMENT, copy, "0", stream, &copy);
  expect_text({"width"});
  copy = good;
  copy.height = 0;
  EXPECT_ERROR(ACCEL_INVALID_ARGUMENT, copy, "0", stream, &copy);
  expect_text({"height"});
  copy = good;
  copy.depth = 0;
  EXPECT_ERROR(ACCEL_INVALID_ARGUMENT, copy, "0", stream, &copy);
  expect_text({"depth"});
  for (int32_t device : {devices(), -2, INT32_MAX}) {
    const std::string value = std::to_string(device);
    copy = good;
    copy.to_device = device;
    EXPECT_ERROR(ACCEL_NO_DEVICE, copy, value, stream, &copy);
    copy = good;
    copy.from_device = device;
    EXPECT_ERROR(ACCEL_NO_DEVICE, copy, value, stream, &copy);
  }
  EXPECT_EQ(read(stream, memory), before) << "changed by what failed";
}

TEST_F(Errors, OfFills) {
  Memory memory(api(), 0, 1000);
  const auto before = bytes(1000);
  write(stream, memory, before);
  const accel_fill good = elements(memory.get(), 5, 4, 10);
  const auto expect = [&](const accel_fill& fill, const char* value) {
    EXPECT_ERROR(ACCEL_INVALID_ARGUMENT, fill, value, stream, &fill);
  };
  accel_fill fill = good;
  fill.width = 0;
  expect(fill, "width");
  fill = good;
  fill.height = 0;
  expect(fill, "height");
  fill = good;
  fill.depth = 0;
  expect(fill, "depth");
  for (uint32_t size : {0u, 3u, 5u, 8u, 16u, UINT32_MAX}) {
    fill = good;
    fill.element_size = size;
    expect(fill, std::to_string(size).c_str());
  }
  for (uint32_t size : {2, 4})
    for (uint64_t wrong : {1, 3}) {
      fill = elements(memory.get() + wrong, 5, size, 10);
      expect(fill, "to");
      fill = elements(memory.get(), 5, size, 10);
      fill.pitch += wrong;
      expect(fill, "pitch");
      fill = elements(memory.get(), 5, size, 10);
      fill.slice += wrong;
      expect(fill, "slice");
    }
  EXPECT_EQ(read(stream, memory), before) << "changed by what failed";
}

// An event is recorded in streams of its own device.
TEST_F(Errors, OfEventsOfAnotherDevice) {
  NEEDS_DEVICES(2);
  Event event(api(), 1);
  EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().event_record(event, stream));
  expect_text({"event_record"});
  EXPECT_OK(api().event_query(event));
}

// It can be tried again, since nothing is changed when a function fails.
TEST(Options, ThatThereAreNotAreNamed) {
  if (!is_in_process_with("", false))
    return;
  Library own(library_path());
  for (const char* wrong :
       {"no_such_option=1", "no_such_option", "=", "=1", ",,", "no such=1"}) {
    try {
      own.initialize(wrong);
      ADD_FAILURE() << "took over " << wrong;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status(), ACCEL_INVALID_ARGUMENT) << wrong;
      EXPECT_NE(std::strstr(own.api().last_error(), "initialize"), nullptr);
      if (std::strchr(wrong, 'n')) {
        EXPECT_NE(std::strstr(own.api().last_error(), "no"), nullptr)
            << own.api().last_error();
      }
    }
  }
  own.initialize(library_options());
  EXPECT_OK(own.api().device_synchronize(0));
}

} // namespace
} // namespace accelerator::conformance
