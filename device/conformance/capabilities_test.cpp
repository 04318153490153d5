// The optional groups, each tested where a device has it and skipped by name
// where it has not.
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Capabilities = Device;

TEST_F(Capabilities, GoTogetherWithFunctions) {
  for (int bit = 0; bit <= 12; ++bit) {
    const auto capability = static_cast<accel_capability>(1 << bit);
    for (int32_t device = 0; device < devices(); ++device)
      if (library().has(device, capability)) {
        EXPECT_TRUE(library().has_functions(capability)) << name_of(capability);
      }
  }
}

TEST_F(Capabilities, Timing) {
  NEEDS(0, ACCEL_CAP_TIMING);
  Event start(api(), 0, true), end(api(), 0, true);
  Memory memory(api(), 0, 1 << 20);
  const accel_fill fill = elements(memory.get(), 1, 1, 1 << 20);
  ASSERT_OK(api().event_record(start, stream));
  ASSERT_OK(api().fill(stream, &fill));
  ASSERT_OK(api().event_record(end, stream));
  ASSERT_OK(api().event_synchronize(end));
  float there = -1, back = 1, none = -1;
  ASSERT_OK(api().event_elapsed(start, end, &there));
  ASSERT_OK(api().event_elapsed(end, start, &back));
  ASSERT_OK(api().event_elapsed(start, start, &none));
  EXPECT_GE(there, 0);
  EXPECT_FLOAT_EQ(back, -there);
  EXPECT_EQ(none, 0);
}

// Work between two marks takes its time, also seen from them.
TEST_F(Capabilities, TimingOfWork) {
  NEEDS(0, ACCEL_CAP_TIMING);
  Event start(api(), 0, true), end(api(), 0, true);
  ASSERT_OK(api().event_record(start, stream));
  ASSERT_OK(api().stream_callback(
      stream,
      [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); },
      nullptr));
  ASSERT_OK(api().event_record(end, stream));
  ASSERT_OK(api().event_synchronize(end));
  float between = -1;
  ASSERT_OK(api().event_elapsed(start, end, &between));
  EXPECT_GE(between, 45);
}

TEST_F(Capabilities, Pinned) {
  NEEDS(0, ACCEL_CAP_PINNED);
  void* address = nullptr;
  ASSERT_OK(api().host_allocate(5000, &address));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 4096, 0u);
  const auto wanted = bytes(5000);
  std::memcpy(address, wanted.data(), wanted.size());
  Memory memory(api(), 0, 5000);
  accel_copy copy = row(memory.get(), 0, address, ACCEL_HOST, 5000);
  ASSERT_OK(api().copy(stream, &copy));
  EXPECT_EQ(read(stream, memory), wanted);
  EXPECT_OK(api().host_free(address));

  std::vector<unsigned char> own(3 * 4096);
  void* page = reinterpret_cast<void*>(
      (reinterpret_cast<uintptr_t>(own.data()) + 4095) & ~uintptr_t(4095));
  ASSERT_OK(api().host_register(page, 4096));
  EXPECT_STATUS(ACCEL_ALREADY, api().host_register(page, 4096));
  std::memcpy(page, wanted.data(), 4096);
  copy = row(memory.get(), 0, page, ACCEL_HOST, 4096);
  ASSERT_OK(api().copy(stream, &copy));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_OK(api().host_unregister(page));
  ASSERT_OK(api().host_register(page, 4096));
  EXPECT_OK(api().host_unregister(page));
}

TEST_F(Capabilities, Managed) {
  NEEDS(0, ACCEL_CAP_MANAGED);
  void* address = nullptr;
  ASSERT_OK(api().managed_allocate(0, 4000, &address));
  const auto wanted = bytes(4000);
  std::memcpy(address, wanted.data(), wanted.size());
  Memory memory(api(), 0, 4000);
  const accel_copy copy = row(memory.get(), 0, address, 0, 4000);
  ASSERT_OK(api().copy(stream, &copy));
  EXPECT_EQ(read(stream, memory), wanted);
  const accel_fill fill = elements(address, 7, 1, 4000);
  ASSERT_OK(api().fill(stream, &fill));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(static_cast<char*>(address)[3999], 7);
  EXPECT_OK(api().managed_free(address));
}

TEST_F(Capabilities, StreamOrdered) {
  NEEDS(0, ACCEL_CAP_STREAM_ORDERED);
  std::vector<unsigned char> host(3000);
  for (int round = 0; round < 20; ++round) {
    void* address = nullptr;
    ASSERT_OK(api().memory_allocate_async(stream, 3000, &address));
    const accel_fill fill = elements(address, round, 1, 3000);
    const accel_copy copy = row(host.data(), ACCEL_HOST, address, 0, 3000);
    ASSERT_OK(api().fill(stream, &fill));
    ASSERT_OK(api().copy(stream, &copy));
    ASSERT_OK(api().memory_free_async(stream, address));
  }
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(host, std::vector<unsigned char>(3000, 19));
}

TEST_F(Capabilities, Peer) {
  NEEDS(0, ACCEL_CAP_PEER);
  NEEDS_DEVICES(2);
  int32_t possible = -1;
  ASSERT_OK(api().peer_possible(0, 1, &possible));
  ASSERT_TRUE(possible == 0 || possible == 1);
  if (possible == 0)
    GTEST_SKIP() << "device 0 cannot use memory of device 1";
  for (int enabled : {1, 1, 0, 0})
    EXPECT_OK(api().peer_enable(0, 1, enabled));
  Memory memory(api(), 1, 100);
  for (int enabled : {1, 1, 0, 0})
    EXPECT_OK(api().memory_share(memory.get(), 0, enabled));
}

TEST_F(Capabilities, Virtual) {
  NEEDS(0, ACCEL_CAP_VIRTUAL);
  uint64_t size = 0;
  ASSERT_OK(api().virtual_granularity(0, &size));
  ASSERT_GT(size, 0u);
  void* range = nullptr;
  ASSERT_OK(api().virtual_reserve(4 * size, 0, nullptr, &range));
  accel_physical physical = nullptr;
  ASSERT_OK(api().physical_create(0, size, &physical));
  // Twice at two addresses: both show one memory.
  char* first = static_cast<char*>(range);
  char* second = first + 2 * size;
  for (char* address : {first, second}) {
    ASSERT_OK(api().virtual_map(address, size, 0, physical));
    ASSERT_OK(api().virtual_access(address, size, 0, 1));
  }
  EXPECT_OK(api().physical_destroy(physical)) << "it stays where it is mapped";
  const auto wanted = bytes(1000);
  std::vector<unsigned char> found(1000);
  const accel_copy to = row(first, 0, wanted.data(), ACCEL_HOST, 1000);
  const accel_copy from = row(found.data(), ACCEL_HOST, second, 0, 1000);
  ASSERT_OK(api().copy(stream, &to));
  ASSERT_OK(api().copy(stream, &from));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(found, wanted);
  for (char* address : {first, second})
    EXPECT_OK(api().virtual_unmap(address, size));
  EXPECT_OK(api().virtual_release(range, 4 * size));
}

// A file names the memory, here as in another process.
TEST_F(Capabilities, VirtualMemoryIsExported) {
  NEEDS(0, ACCEL_CAP_VIRTUAL);
  uint64_t size = 0;
  ASSERT_OK(api().virtual_granularity(0, &size));
  accel_physical made = nullptr, imported = nullptr;
  ASSERT_OK(api().physical_create(0, 3 * size, &made));
  int32_t file = -1;
  ASSERT_OK(api().physical_export(made, &file));
  ASSERT_GE(file, 0);
  uint64_t bytes_found = 0;
  ASSERT_OK(api().physical_import(0, file, &imported, &bytes_found));
  EXPECT_EQ(close(file), 0) << "the file stays the caller's";
  EXPECT_EQ(bytes_found, 3 * size);
  void* range = nullptr;
  ASSERT_OK(api().virtual_reserve(6 * size, 0, nullptr, &range));
  char* first = static_cast<char*>(range);
  char* second = first + 3 * size;
  ASSERT_OK(api().virtual_map(first, 3 * size, 0, made));
  ASSERT_OK(api().virtual_map(second, 3 * size, 0, imported));
  ASSERT_OK(api().virtual_access(range, 6 * size, 0, 1));
  for (accel_physical physical : {made, imported})
    EXPECT_OK(api().physical_destroy(physical));
  const auto wanted = bytes(1000);
  std::vector<unsigned char> found(1000);
  const accel_copy to =
      row(first + 3 * size - 1000, 0, wanted.data(), ACCEL_HOST, 1000);
  const accel_copy from =
      row(found.data(), ACCEL_HOST, second + 3 * size - 1000, 0, 1000);
  ASSERT_OK(api().copy(stream, &to));
  ASSERT_OK(api().copy(stream, &from));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(found, wanted);
  EXPECT_OK(api().virtual_access(range, 6 * size, 0, 0));
  for (char* address : {first, second})
    EXPECT_OK(api().virtual_unmap(address, 3 * size));
  EXPECT_OK(api().virtual_release(range, 6 * size));
}

TEST_F(Capabilities, Submit) {
  NEEDS(0, ACCEL_CAP_SUBMIT);
  int called = 0;
  ASSERT_OK(api().stream_submit(
      stream,
      [](void*, void* data) {
        ++*static_cast<int*>(data);
        return ACCEL_OK;
      },
      &called));
  EXPECT_EQ(called, 1) << "called before it returns";
}

TEST_F(Capabilities, Code) {
  NEEDS(0, ACCEL_CAP_CODE);
  const char damaged[] = "this is no code";
  accel_image image = {};
  image.struct_size = sizeof image;
  image.format = (library().devices()[0].code_formats & ACCEL_CODE_PTX)
      ? ACCEL_CODE_PTX
      : ACCEL_CODE_OWN;
  image.code = damaged;
  image.bytes = sizeof damaged - 1;
  image.source_name = "a test";
  image.check_all = 1;
  accel_module module = nullptr;
  const accel_status status = api().module_load(0, &image, &module);
  EXPECT_TRUE(
      status == ACCEL_INVALID_IMAGE || status == ACCEL_INVALID_CODE ||
      status == ACCEL_NO_IMAGE_FOR_DEVICE)
      << name_of(status);
  EXPECT_EQ(module, nullptr);
}

TEST_F(Capabilities, Collectives) {
  NEEDS(0, ACCEL_CAP_COLLECTIVES);
  const unsigned char id[128] = "conformance";
  accel_communicator alone = nullptr;
  ASSERT_OK(api().communicator_create(0, id, 0, 1, &alone));
  Memory from(api(), 0, 400), to(api(), 0, 400);
  const auto wanted = bytes(400);
  write(stream, from, wanted);
  accel_collective sum = {};
  sum.struct_size = sizeof sum;
  sum.kind = ACCEL_ALL_REDUCE;
  sum.type = ACCEL_INT32;
  sum.reduction = ACCEL_SUM;
  sum.send = from.get();
  sum.receive = to.get();
  sum.count = 100;
  ASSERT_OK(api().collective(alone, stream, &sum, 1));
  EXPECT_EQ(read(stream, to), wanted);
  EXPECT_OK(api().communicator_status(alone));
  EXPECT_OK(api().communicator_destroy(alone));
}

TEST_F(Capabilities, Textures) {
  NEEDS(0, ACCEL_CAP_TEXTURES);
  Memory memory(api(), 0, 4 * 8 * 16);
  accel_texture_level level = {};
  level.address = memory.get();
  level.width = 8;
  level.height = 4;
  level.depth = 1;
  level.pitch = 8 * 16;
  level.slice = 4 * 8 * 16;
  accel_texture texture = {};
  texture.struct_size = sizeof texture;
  texture.levels = &level;
  texture.level_count = 1;
  texture.dimensions = 2;
  texture.kind = ACCEL_CHANNEL_FLOAT;
  texture.channel_bits = 32;
  texture.channels = 4;
  std::uint64_t first = 0, second = 0;
  ASSERT_OK(api().texture_create(0, &texture, &first));
  ASSERT_OK(api().texture_create(0, &texture, &second));
  EXPECT_NE(first, 0u);
  EXPECT_NE(second, 0u);
  EXPECT_NE(first, second);
  EXPECT_OK(api().texture_destroy(0, first));
  EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().texture_destroy(0, first));
  EXPECT_OK(api().texture_destroy(0, second));
  texture.channels = 3;
  EXPECT_STATUS(
      ACCEL_INVALID_ARGUMENT, api().texture_create(0, &texture, &first));
  expect_text({"3", "channels"});
}

// What the device says of reads is its own business: it refuses none that it
// can look at.
TEST_F(Capabilities, ReadsByTheHost) {
  if (api().memory_read == nullptr) {
    GTEST_SKIP() << "the device wants to hear of no reads";
  }
  Memory memory(api(), 0, 400);
  accel_read told = {};
  told.struct_size = sizeof told;
  told.function = "a test";
  told.from = memory.get();
  told.width = 4;
  told.height = 10;
  told.depth = 2;
  told.pitch = 12;
  told.growth = 1;
  told.slice = 200;
  EXPECT_OK(api().memory_read(0, &told));
  EXPECT_EQ(api().memory_read(devices(), &told), ACCEL_NO_DEVICE);
}

} // namespace
} // namespace accelerator::conformance
