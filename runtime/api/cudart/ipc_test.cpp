// Memory and events of one process used by another.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

// The other process: waits for the event, adds one to each byte. Returns which
// step went wrong.
int work_on(const Handles& handles) {
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  unsigned char bytes[100];
  if (cudaIpcOpenMemHandle(
          &memory, handles.memory, cudaIpcMemLazyEnablePeerAccess) != 0) {
    return 1;
  }
  if (cudaIpcOpenEventHandle(&event, handles.event) != 0 ||
      cudaEventSynchronize(event) != 0) {
    return 2;
  }
  if (cudaMemcpy(bytes, memory, sizeof(bytes), cudaMemcpyDeviceToHost) != 0) {
    return 3;
  }
  for (unsigned char& byte : bytes) {
    ++byte;
  }
  if (cudaMemcpy(memory, bytes, sizeof(bytes), cudaMemcpyHostToDevice) != 0) {
    return 4;
  }
  if (cudaIpcCloseMemHandle(memory) != 0) {
    return 5;
  }
  // It is not there any more.
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, memory) != 0 ||
      attributes.type != cudaMemoryTypeUnregistered) {
    return 6;
  }
  return 0;
}

TEST(Ipc, AnotherProcessWorksOnTheSameBytes) {
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  // Before the first use of CUDA: a process that forks afterwards leaves its
  // child without it.
  const pid_t child = fork();
  if (child == 0) {
    Handles handles;
    const bool complete =
        read(to_child[0], &handles, sizeof(handles)) == sizeof(handles);
    _exit(complete ? work_on(handles) : 9);
  }
  void* memory = nullptr;
  void* other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaMalloc(&other, 5000), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  ASSERT_EQ(
      cudaEventCreateWithFlags(
          &event, cudaEventInterprocess | cudaEventDisableTiming),
      cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 41, 100), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  Handles handles;
  ASSERT_EQ(cudaIpcGetMemHandle(&handles.memory, memory), cudaSuccess);
  ASSERT_EQ(cudaIpcGetEventHandle(&handles.event, event), cudaSuccess);
  void* own = nullptr;
  EXPECT_EQ(
      cudaIpcOpenMemHandle(
          &own, handles.memory, cudaIpcMemLazyEnablePeerAccess),
      cudaErrorDeviceUninitialized);
  ASSERT_EQ(
      write(to_child[1], &handles, sizeof(handles)),
      static_cast<ssize_t>(sizeof(handles)));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  unsigned char bytes[100] = {};
  ASSERT_EQ(
      cudaMemcpy(bytes, memory, sizeof(bytes), cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(bytes[0], 42);
  EXPECT_EQ(bytes[99], 42);
}

TEST(Ipc, AForkedChildOfAProcessThatUsedTheDeviceHasNone) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  const pid_t child = fork();
  if (child == 0) {
    _exit(cudaGetDeviceCount(&count) == cudaErrorInitializationError ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace
