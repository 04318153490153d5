// What is the fake's own beside the contract: its options, its one symbol, and
// memory that is not there any more.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "device/abi/library.h"
#include "device/abi/objects.h"

namespace accelerator {
namespace {

std::string path() {
  const char* value = std::getenv("ACCEL_LIBRARY");
  return value ? value : "";
}

/// Loaded once; each test initializes it anew, which `fake` allows.
const accel_api& api() {
  static auto* library = new Library(path());
  return library->api();
}

TEST(Fake, ExportsOneSymbol) {
  void* handle = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr);
  EXPECT_NE(dlsym(handle, "accel_get_api"), nullptr);
  for (const char* name :
       {"options", "parse_options", "host_stream_put", "host_copy"})
    EXPECT_EQ(dlsym(handle, name), nullptr) << name;
}

TEST(Fake, SaysWhichOptionsThereAre) {
  for (const char* wrong :
       {"colour=blue",
        "count",
        "count=",
        "count=0",
        "count=65",
        "count=-1",
        "count= 1",
        "count=+1",
        "count=1x",
        "count=1K",
        "count=0x2",
        "COUNT=1",
        "countt=1",
        "count=1,,lost=2",
        ",count=1",
        "count=1;lost=2",
        "memory=0",
        "memory=12T",
        "memory=1.5G",
        "memory=1025G",
        "memory=1KB",
        "memory=99999999999999999999",
        "memory=18446744073709551617",
        "memory=17179869185G",
        "out_of_memory=0",
        "out_of_memory=1G",
        "every=x",
        "lost=0",
        "slow=0",
        "slow=60001"}) {
    EXPECT_EQ(api().initialize(wrong), ACCEL_INVALID_ARGUMENT) << wrong;
    const std::string text = api().last_error();
    for (const char* option :
         {"initialize",
          "count=",
          "memory=",
          "out_of_memory=",
          "every=",
          "lost=",
          "slow="})
      EXPECT_NE(text.find(option), std::string::npos) << text;
    int32_t count = 0;
    EXPECT_EQ(api().device_count(&count), ACCEL_OK);
    EXPECT_EQ(count, 1) << "taken over from " << wrong;
  }
  EXPECT_EQ(api().initialize("count=2,colour=blue"), ACCEL_INVALID_ARGUMENT);
  EXPECT_NE(
      std::string(api().last_error()).find("\"colour=blue\""),
      std::string::npos)
      << api().last_error();
}

TEST(Fake, TakesOverOptions) {
  for (const auto& [options, bytes] :
       {std::pair("memory=4096", uint64_t(4096)),
        std::pair("memory=64K", uint64_t(64) << 10),
        std::pair("memory=3M", uint64_t(3) << 20),
        std::pair("count=2,memory=1024G", uint64_t(1) << 40),
        std::pair("count=1,memory=1M,memory=2M", uint64_t(2) << 20)}) {
    ASSERT_EQ(api().initialize(options), ACCEL_OK) << options;
    uint64_t free = 0, total = 0;
    ASSERT_EQ(api().memory_info(0, &free, &total), ACCEL_OK);
    EXPECT_EQ(free, bytes) << options;
    EXPECT_EQ(total, bytes) << options;
  }
}

TEST(Fake, HasAllOfItsMemory) {
  ASSERT_EQ(api().initialize("memory=1M"), ACCEL_OK);
  {
    Memory all(api(), 0, 1 << 20);
    void* address = nullptr;
    EXPECT_EQ(api().memory_allocate(0, 1, 0, &address), ACCEL_OUT_OF_MEMORY);
    const std::string text = api().last_error();
    EXPECT_NE(text.find("device 0"), std::string::npos) << text;
    EXPECT_NE(text.find("1048576"), std::string::npos) << text;
  }
  Memory again(api(), 0, 1 << 20, 1 << 21);
}

// /proc has threads by their numbers, too, with the files of their process.
TEST(Fake, KnowsItsMemoryByOneProcess) {
  ASSERT_EQ(api().initialize("memory=1M"), ACCEL_OK);
  void* memory = nullptr;
  ASSERT_EQ(api().memory_allocate(0, 4096, 0, &memory), ACCEL_OK);
  accel_ipc_handle handle = {};
  ASSERT_EQ(api().ipc_export(memory, &handle), ACCEL_OK);
  const std::int32_t process = getpid();
  char* const number = std::search(
      reinterpret_cast<char*>(handle.bytes),
      reinterpret_cast<char*>(handle.bytes) + sizeof handle.bytes,
      reinterpret_cast<const char*>(&process),
      reinterpret_cast<const char*>(&process + 1));
  ASSERT_NE(
      number, reinterpret_cast<char*>(handle.bytes + sizeof handle.bytes));
  std::thread([&] {
    const std::int32_t thread = gettid();
    std::memcpy(number, &thread, sizeof thread);
    void* address = nullptr;
    uint64_t bytes = 0;
    EXPECT_EQ(
        api().ipc_import(0, &handle, &address, &bytes), ACCEL_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(api().memory_free(0, memory), ACCEL_OK);
  EXPECT_EQ(api().finalize(), ACCEL_OK);
}

TEST(FakeDeathTest, FindsWhoUsesMemoryThatWasFreed) {
  ASSERT_EQ(api().initialize("memory=16M"), ACCEL_OK);
  volatile char* gone = nullptr;
  {
    Memory memory(api(), 0, 10000);
    gone = memory.get();
    gone[9999] = 1;
  }
  // Others do not get it soon.
  Memory other(api(), 0, 10000);
  EXPECT_NE(other.get(), gone);
  EXPECT_DEATH(gone[0] = 1, "");
}

TEST(FakeDeathTest, FindsWhoWritesBehindTheEnd) {
  ASSERT_EQ(api().initialize("memory=16M"), ACCEL_OK);
  Memory first(api(), 0, 4096), second(api(), 0, 4096);
  EXPECT_DEATH(static_cast<volatile char*>(first.get())[4096] = 1, "");
}

} // namespace
} // namespace accelerator
