// Devices: their number, properties, status, and waiting for them.
#include <cstring>
#include <set>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

TEST(Devices, AreCountedAlike) {
  for (int i = 0; i < 3; ++i) {
    int32_t count = -1;
    ASSERT_OK(api().device_count(&count));
    EXPECT_EQ(count, devices());
    EXPECT_GE(count, 1);
  }
}

TEST(Devices, HaveNamesAndMemory) {
  std::set<std::string> uuids;
  for (const auto& device : library().devices()) {
    EXPECT_GT(strnlen(device.name, sizeof device.name), 0u);
    EXPECT_LT(strnlen(device.name, sizeof device.name), sizeof device.name);
    EXPECT_GT(device.total_memory, 0u);
    EXPECT_GE(device.major, 0);
    EXPECT_TRUE(
        uuids.emplace(reinterpret_cast<const char*>(device.uuid), 16).second)
        << "two devices with one uuid";
    EXPECT_EQ(
        device.code_formats != 0, (device.capabilities & ACCEL_CAP_CODE) != 0);
  }
}

// An older caller's struct is shorter: nothing is written behind it.
TEST(Devices, FillNoMoreThanTheCallersStruct) {
  for (size_t size :
       {offsetof(accel_properties, capabilities),
        offsetof(accel_properties, total_memory),
        offsetof(accel_properties, pci_device)}) {
    accel_properties found;
    std::memset(&found, 0xa5, sizeof found);
    found.struct_size = size;
    ASSERT_OK(api().device_properties(0, &found));
    EXPECT_EQ(found.struct_size, size);
    EXPECT_STREQ(found.name, library().devices()[0].name);
    const auto* all = reinterpret_cast<const unsigned char*>(&found);
    for (size_t i = size; i < sizeof found; ++i)
      ASSERT_EQ(all[i], 0xa5) << "byte " << i << " of a struct of " << size;
  }
}

// A newer caller's is longer: what the library does not know it leaves alone.
TEST(Devices, FillAStructThatIsLonger) {
  struct {
    accel_properties known;
    unsigned char more[64];
  } found;
  std::memset(&found, 0, sizeof found);
  found.known.struct_size = sizeof found;
  ASSERT_OK(api().device_properties(0, &found.known));
  EXPECT_EQ(found.known.total_memory, library().devices()[0].total_memory);
}

TEST(Devices, HaveNoFaultAndSynchronize) {
  for (int32_t device = 0; device < devices(); ++device) {
    EXPECT_OK(api().device_status(device));
    EXPECT_OK(api().device_synchronize(device));
  }
}

TEST(Devices, SynchronizeWaitsForAllStreams) {
  Stream first(api(), 0), second(api(), 0);
  Memory memory(api(), 0, 1 << 20);
  std::vector<unsigned char> back(memory.bytes());
  const accel_fill fill = elements(memory.get(), 7, 1, memory.bytes());
  const accel_copy copy =
      row(back.data(), ACCEL_HOST, memory.get(), 0, back.size());
  ASSERT_OK(api().fill(first, &fill));
  Event filled(api(), 0);
  ASSERT_OK(api().event_record(filled, first));
  ASSERT_OK(api().stream_wait_event(second, filled));
  ASSERT_OK(api().copy(second, &copy));
  ASSERT_OK(api().device_synchronize(0));
  EXPECT_EQ(back, std::vector<unsigned char>(memory.bytes(), 7));
  EXPECT_OK(api().stream_query(first));
  EXPECT_OK(api().stream_query(second));
}

TEST(Devices, SynchronizeWaitsForStreamsThatWereDestroyed) {
  std::vector<unsigned char> back(1 << 20);
  Memory memory(api(), 0, back.size());
  {
    Stream stream(api(), 0);
    const accel_fill fill = elements(memory.get(), 9, 1, memory.bytes());
    const accel_copy copy =
        row(back.data(), ACCEL_HOST, memory.get(), 0, back.size());
    ASSERT_OK(api().fill(stream, &fill));
    ASSERT_OK(api().copy(stream, &copy));
  }
  ASSERT_OK(api().device_synchronize(0));
  EXPECT_EQ(back, std::vector<unsigned char>(back.size(), 9));
}

TEST(Devices, SynchronizeDoesNotWaitForOtherDevices) {
  NEEDS_DEVICES(2);
  Gate gate;
  Stream busy(api(), 0);
  gate.close(busy);
  EXPECT_OK(api().device_synchronize(1));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(busy));
  gate.open();
  EXPECT_OK(api().device_synchronize(0));
}

TEST(Devices, ResetFreesMemoryAndKeepsStreamsAndEvents) {
  const int32_t device = devices() - 1;
  Stream stream(api(), device);
  Event event(api(), device);
  uint64_t before = 0, after = 0, total = 0;
  ASSERT_OK(api().device_synchronize(device));
  ASSERT_OK(api().memory_info(device, &before, &total));
  for (int i = 0; i < 8; ++i) {
    Memory memory(api(), device, 1 << 16);
    const accel_fill fill = elements(memory.get(), 1, 1, memory.bytes());
    EXPECT_OK(api().fill(stream, &fill));
    memory.release();
  }
  ASSERT_OK(api().event_record(event, stream));
  ASSERT_OK(api().device_reset(device));
  ASSERT_OK(api().memory_info(device, &after, &total));
  EXPECT_EQ(after, before);
  EXPECT_OK(api().stream_query(stream));
  EXPECT_OK(api().event_query(event));
  const Memory memory(api(), device, 1000);
  const auto wanted = bytes(1000);
  write(stream, memory, wanted);
  EXPECT_EQ(read(stream, memory), wanted);
}

TEST(Devices, ResetWaitsForWork) {
  const int32_t device = devices() - 1;
  Stream stream(api(), device);
  int called = 0;
  for (int i = 0; i < 20; ++i)
    EXPECT_OK(api().stream_callback(
        stream, [](void* data) { ++*static_cast<int*>(data); }, &called));
  ASSERT_OK(api().device_reset(device));
  EXPECT_EQ(called, 20);
}

} // namespace
} // namespace accelerator::conformance
