// Memory that two processes use.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Ipc = Device;

constexpr uint64_t kBytes = 5000;

/// The file by which the two give each other handles.
std::string handle_file() {
  const char* path = std::getenv("ACCEL_IPC_FILE");
  return path ? path : "";
}

void give(const std::string& path, const accel_ipc_handle& handle) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(handle.bytes), sizeof handle.bytes);
}

accel_ipc_handle take(const std::string& path) {
  accel_ipc_handle handle = {};
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(handle.bytes), sizeof handle.bytes);
  return handle;
}

/// A name for the file, which goes with the test.
class File {
 public:
  File() {
    const int file = mkstemp(path_.data());
    EXPECT_GE(file, 0);
    if (file >= 0)
      fclose(fdopen(file, "w"));
  }
  ~File() {
    std::remove(path_.c_str());
  }
  const std::string& path() const {
    return path_;
  }
  std::vector<std::string> variables() const {
    return {"ACCEL_IPC_FILE=" + path_};
  }

 private:
  std::string path_ = testing::TempDir() + "accel_ipc_XXXXXX";
};

TEST_F(Ipc, SharesMemory) {
  NEEDS(0, ACCEL_CAP_IPC);
  const File file;
  Memory memory(api(), 0, kBytes);
  write(stream, memory, bytes(kBytes, 1));
  accel_ipc_handle handle = {}, again = {};
  ASSERT_OK(api().ipc_export(memory.get(), &handle));
  ASSERT_OK(api().ipc_export(memory.get(), &again));
  give(file.path(), again);
  EXPECT_EQ(run_test("IpcPeer.UsesMemory", file.variables()), 0);
  EXPECT_EQ(read(stream, memory), bytes(kBytes, 2)) << "what the other wrote";
}

// Memory that its alignment has moved is shared where it begins.
TEST_F(Ipc, SharesAlignedMemory) {
  NEEDS(0, ACCEL_CAP_IPC);
  const File file;
  Memory before(api(), 0, 300), memory(api(), 0, kBytes, 1 << 20);
  write(stream, memory, bytes(kBytes, 1));
  accel_ipc_handle handle = {};
  ASSERT_OK(api().ipc_export(memory.get(), &handle));
  give(file.path(), handle);
  EXPECT_EQ(run_test("IpcPeer.UsesMemory", file.variables()), 0);
  EXPECT_EQ(read(stream, memory), bytes(kBytes, 2));
}

TEST_F(Ipc, EndsWithTheMemory) {
  NEEDS(0, ACCEL_CAP_IPC);
  const File file;
  accel_ipc_handle handle = {};
  {
    Memory memory(api(), 0, kBytes);
    ASSERT_OK(api().ipc_export(memory.get(), &handle));
  }
  give(file.path(), handle);
  EXPECT_EQ(run_test("IpcPeer.FindsNothing", file.variables()), 0);
}

TEST_F(Ipc, EndsWithTheProcess) {
  NEEDS(0, ACCEL_CAP_IPC);
  const File file;
  ASSERT_EQ(run_test("IpcPeer.SharesMemory", file.variables()), 0);
  const accel_ipc_handle handle = take(file.path());
  void* address = nullptr;
  uint64_t size = 0;
  EXPECT_STATUS(
      ACCEL_OTHER_ENDED, api().ipc_import(0, &handle, &address, &size));
  EXPECT_EQ(address, nullptr);
}

TEST_F(Ipc, RefusesWhatIsNoHandle) {
  NEEDS(0, ACCEL_CAP_IPC);
  Memory memory(api(), 0, kBytes);
  accel_ipc_handle good = {};
  ASSERT_OK(api().ipc_export(memory.get(), &good));
  void* address = nullptr;
  uint64_t size = 0;
  for (size_t i = 0; i < sizeof good.bytes; ++i) {
    accel_ipc_handle wrong = good;
    wrong.bytes[i] ^= 0x5a;
    const accel_status status = api().ipc_import(0, &wrong, &address, &size);
    // Another process's number may be among the bytes.
    EXPECT_TRUE(status == ACCEL_INVALID_ARGUMENT || status == ACCEL_OTHER_ENDED)
        << "byte " << i << ": " << name_of(status);
  }
  EXPECT_STATUS(
      ACCEL_INVALID_ARGUMENT, api().ipc_export(memory.get() + 256, &good));
  EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().ipc_close(memory.get()));
}

/// The other process's parts.
class IpcPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (handle_file().empty())
      GTEST_SKIP() << "the other process's part of a test";
  }
};

TEST_F(IpcPeer, UsesMemory) {
  const accel_ipc_handle handle = take(handle_file());
  Stream stream(api(), 0);
  void* address = nullptr;
  uint64_t size = 0;
  ASSERT_OK(api().ipc_import(0, &handle, &address, &size));
  EXPECT_EQ(size, kBytes);
  std::vector<unsigned char> found(kBytes);
  const accel_copy from = row(found.data(), ACCEL_HOST, address, 0, kBytes);
  ASSERT_OK(api().copy(stream, &from));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(found, bytes(kBytes, 1));
  const auto mine = bytes(kBytes, 2);
  const accel_copy to = row(address, 0, mine.data(), ACCEL_HOST, kBytes);
  ASSERT_OK(api().copy(stream, &to));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_OK(api().ipc_close(address));
  EXPECT_STATUS(ACCEL_INVALID_ARGUMENT, api().ipc_close(address));
}

TEST_F(IpcPeer, FindsNothing) {
  const accel_ipc_handle handle = take(handle_file());
  void* address = nullptr;
  uint64_t size = 0;
  EXPECT_STATUS(
      ACCEL_INVALID_ARGUMENT, api().ipc_import(0, &handle, &address, &size));
}

TEST_F(IpcPeer, SharesMemory) {
  Memory memory(api(), 0, kBytes);
  accel_ipc_handle handle = {};
  ASSERT_OK(api().ipc_export(memory.get(), &handle));
  give(handle_file(), handle);
}

} // namespace
} // namespace accelerator::conformance
