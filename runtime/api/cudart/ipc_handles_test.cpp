// IPC handles that are wrong, and processes that end: what a handle says is
// believed only when the process that gave it says so too.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr std::size_t kHandle = sizeof(cudaIpcMemHandle_t);
using Bytes = std::array<unsigned char, kHandle>;
static_assert(sizeof(cudaIpcEventHandle_t) == kHandle);

/// What the other process gives this one.
struct Gifts {
  cudaIpcMemHandle_t memory; // 100 bytes, all 41
  cudaIpcMemHandle_t small; // of the same process
  cudaIpcMemHandle_t freed;
  cudaIpcEventHandle_t event; // recorded, but not reached
};

void wait_for_ever(void*) {
  pause();
}

// The other process. It has all kinds of files, with contents that nobody must
// write to.
void give(int to_parent) {
  for (int i = 0; i < 4; ++i) {
    int ends[2];
    const bool made = pipe(ends) == 0;
    const int file = memfd_create("accel", 0);
    const int same_name = memfd_create("cudasim-device-0", 0);
    const int same_event = memfd_create("accel-event", 0);
    if (!made || ftruncate(file, 1 << 20) != 0 ||
        ftruncate(same_name, 1 << 20) != 0 ||
        ftruncate(same_event, 4096) != 0) {
      _exit(1);
    }
  }
  Gifts gifts{};
  void* memory[3] = {};
  cudaEvent_t event = nullptr;
  const std::size_t sizes[3] = {100, 7, 1 << 20};
  for (int i = 0; i < 3; ++i) {
    if (cudaMalloc(&memory[i], sizes[i]) != cudaSuccess) {
      _exit(2);
    }
  }
  if (cudaMemset(memory[0], 41, 100) != cudaSuccess ||
      cudaDeviceSynchronize() != cudaSuccess ||
      cudaIpcGetMemHandle(&gifts.memory, memory[0]) != cudaSuccess ||
      cudaIpcGetMemHandle(&gifts.small, memory[1]) != cudaSuccess ||
      cudaIpcGetMemHandle(&gifts.freed, memory[2]) != cudaSuccess ||
      cudaFree(memory[2]) != cudaSuccess ||
      cudaEventCreateWithFlags(
          &event, cudaEventInterprocess | cudaEventDisableTiming) !=
          cudaSuccess ||
      cudaLaunchHostFunc(nullptr, wait_for_ever, nullptr) != cudaSuccess ||
      cudaEventRecord(event, nullptr) != cudaSuccess ||
      cudaIpcGetEventHandle(&gifts.event, event) != cudaSuccess) {
    _exit(3);
  }
  if (write(to_parent, &gifts, sizeof(gifts)) != sizeof(gifts)) {
    _exit(4);
  }
  pause(); // until it is killed
  _exit(0);
}

class IpcHandles : public ::testing::Test {
 protected:
  // Before the first use of CUDA, which does not survive a fork.
  static void SetUpTestSuite() {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    child = fork();
    if (child == 0) {
      close(ends[0]);
      give(ends[1]);
    }
    close(ends[1]);
    ASSERT_EQ(read(ends[0], &gifts, sizeof(gifts)), sizeof(gifts));
    close(ends[0]);
  }
  static void TearDownTestSuite() {
    if (child > 0) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

  template <typename Handle>
  static Bytes bytes_of(const Handle& handle) {
    Bytes bytes;
    std::memcpy(bytes.data(), &handle, kHandle);
    return bytes;
  }
  static cudaError_t open_memory(const Bytes& bytes, void** memory) {
    cudaIpcMemHandle_t handle;
    std::memcpy(&handle, bytes.data(), kHandle);
    return cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess);
  }
  static cudaError_t open_event(const Bytes& bytes, cudaEvent_t* event) {
    cudaIpcEventHandle_t handle;
    std::memcpy(&handle, bytes.data(), kHandle);
    return cudaIpcOpenEventHandle(event, handle);
  }
  /// Neither as memory nor as an event.
  static void expect_refused(const Bytes& bytes) {
    void* memory = nullptr;
    cudaEvent_t event = nullptr;
    for (const cudaError_t status :
         {open_memory(bytes, &memory), open_event(bytes, &event)}) {
      // The last: the handle says that it is of this process.
      EXPECT_TRUE(
          status == cudaErrorInvalidValue ||
          status == cudaErrorMapBufferObjectFailed ||
          status == cudaErrorDeviceUninitialized)
          << cudaGetErrorName(status);
    }
    cudaGetLastError();
  }
  static std::vector<Bytes> good() {
    return {
        bytes_of(gifts.memory), bytes_of(gifts.small), bytes_of(gifts.event)};
  }

  static pid_t child;
  static Gifts gifts;
};
pid_t IpcHandles::child = -1;
Gifts IpcHandles::gifts;

TEST_F(IpcHandles, WithAnyBitTurnedAreRefused) {
  for (const Bytes& handle : good()) {
    for (std::size_t bit = 0; bit < 8 * kHandle; ++bit) {
      Bytes wrong = handle;
      wrong[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
      expect_refused(wrong);
    }
  }
}

TEST_F(IpcHandles, WithAnotherWordAreRefused) {
  // Wherever a process or a file may be in it.
  std::vector<std::uint32_t> words = {
      static_cast<std::uint32_t>(child),
      static_cast<std::uint32_t>(getpid()),
      static_cast<std::uint32_t>(getppid()),
      0xffffffff,
      0x7fffffff,
      0x80000000,
      4096};
  for (std::uint32_t i = 0; i < 40; ++i) {
    words.push_back(i);
  }
  for (const Bytes& handle : good()) {
    for (std::size_t at = 0; at < kHandle; at += 4) {
      for (const std::uint32_t word : words) {
        Bytes wrong = handle;
        std::memcpy(&wrong[at], &word, sizeof(word));
        if (wrong != handle) {
          expect_refused(wrong);
        }
      }
    }
  }
}

TEST_F(IpcHandles, PutTogetherFromTwoAreRefused) {
  const std::vector<Bytes> handles = good();
  for (const Bytes& first : handles) {
    for (const Bytes& second : handles) {
      for (std::size_t at = 4; at < kHandle; at += 4) {
        Bytes wrong = first;
        std::copy(second.begin() + at, second.end(), wrong.begin() + at);
        if (std::find(handles.begin(), handles.end(), wrong) == handles.end()) {
          expect_refused(wrong);
        }
      }
    }
  }
}

TEST_F(IpcHandles, OfRandomBytesAreRefused) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    Bytes bytes = good()[random() % 3];
    // Some words stay as they were.
    for (std::size_t at = 0; at < kHandle; at += 4) {
      if (random() % 2 == 0 || round % 8 == 0) {
        const std::uint32_t word = random();
        std::memcpy(&bytes[at], &word, sizeof(word));
      }
    }
    const std::vector<Bytes> handles = good();
    if (std::find(handles.begin(), handles.end(), bytes) == handles.end()) {
      expect_refused(bytes);
    }
  }
}

TEST_F(IpcHandles, OfMemoryThatIsFreedAreRefused) {
  void* memory = nullptr;
  EXPECT_EQ(open_memory(bytes_of(gifts.freed), &memory), cudaErrorInvalidValue);
}

TEST_F(IpcHandles, AsTheyWereGivenAreOpened) {
  void* memory = nullptr;
  void* again = nullptr;
  unsigned char bytes[100] = {};
  ASSERT_OK(open_memory(bytes_of(gifts.memory), &memory));
  ASSERT_OK(open_memory(bytes_of(gifts.memory), &again));
  EXPECT_EQ(memory, again);
  EXPECT_OK(cudaMemcpy(bytes, memory, 100, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::count(bytes, bytes + 100, 41), 100);
  EXPECT_EQ(
      cudaMemcpy(bytes, memory, 101, cudaMemcpyDeviceToHost),
      cudaErrorInvalidValue);
  EXPECT_OK(cudaIpcCloseMemHandle(memory));
  EXPECT_OK(cudaIpcCloseMemHandle(memory));
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), cudaErrorInvalidValue);
}

// The last one: it ends the other process, and leaves the device at fault.
TEST_F(IpcHandles, AnEventWhoseRecorderDiedIsNotWaitedFor) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(open_event(bytes_of(gifts.event), &event));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  cudaStream_t stream = nullptr;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ASSERT_OK(cudaStreamWaitEvent(stream, event, 0));
  // Some wait when it ends, and others come later.
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorExternalDevice);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorExternalDevice);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  child = -1;
  ASSERT_OK(cudaDeviceReset());
  void* memory = nullptr;
  EXPECT_EQ(
      open_memory(bytes_of(gifts.memory), &memory),
      cudaErrorMapBufferObjectFailed);
  EXPECT_EQ(
      open_event(bytes_of(gifts.event), &event),
      cudaErrorMapBufferObjectFailed);
}

} // namespace
} // namespace accelerator::cudart::testing
