// Memory of one process used by another.
#include <cuda.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace {

CUresult use_device() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) {
    return CUDA_ERROR_UNKNOWN;
  }
  return cuCtxSetCurrent(context);
}

// The other process: adds one to a word. Returns which step went wrong.
int work_on(const CUipcMemHandle& handle) {
  CUdeviceptr memory = 0;
  unsigned value = 0;
  if (use_device() != CUDA_SUCCESS) {
    return 1;
  }
  if (cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) !=
      CUDA_SUCCESS) {
    return 2;
  }
  if (cuMemcpyDtoH(&value, memory, sizeof(value)) != CUDA_SUCCESS) {
    return 3;
  }
  ++value;
  if (cuMemcpyHtoD(memory, &value, sizeof(value)) != CUDA_SUCCESS) {
    return 4;
  }
  if (cuIpcCloseMemHandle(memory) != CUDA_SUCCESS) {
    return 5;
  }
  return cuIpcCloseMemHandle(memory) == CUDA_ERROR_INVALID_VALUE ? 0 : 6;
}

TEST(Ipc, AnotherProcessWorksOnTheSameMemory) {
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  // Before the first use of CUDA: a process that forks afterwards leaves its
  // child without it.
  const pid_t child = fork();
  if (child == 0) {
    CUipcMemHandle handle;
    const bool complete =
        read(to_child[0], &handle, sizeof(handle)) == sizeof(handle);
    _exit(complete ? work_on(handle) : 9);
  }
  CUipcMemHandle handle{};
  CUdeviceptr memory = 0;
  unsigned value = 41;
  ASSERT_EQ(use_device(), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&memory, sizeof(value)), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(memory, &value, sizeof(value)), CUDA_SUCCESS);
  ASSERT_EQ(cuIpcGetMemHandle(&handle, memory), CUDA_SUCCESS);
  CUdeviceptr own = 0;
  EXPECT_EQ(
      cuIpcOpenMemHandle(&own, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
      CUDA_ERROR_INVALID_CONTEXT)
      << "in the process that made it";
  ASSERT_EQ(
      write(to_child[1], &handle, sizeof(handle)),
      static_cast<ssize_t>(sizeof(handle)));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_EQ(cuMemcpyDtoH(&value, memory, sizeof(value)), CUDA_SUCCESS);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuIpcGetMemHandle(&handle, memory), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
