// Memory of one process's pool used by another.
#include <cuda.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace {

constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

struct Gift {
  int file;
  CUmemPoolPtrExportData memory;
};

CUresult use_device() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) {
    return CUDA_ERROR_UNKNOWN;
  }
  return cuCtxSetCurrent(context);
}

void* in_pointer(int file) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
}

// The other process: adds one to a word. Returns which step went wrong.
int work_on(Gift gift) {
  const std::string path =
      "/proc/" + std::to_string(getppid()) + "/fd/" + std::to_string(gift.file);
  const int file = open(path.c_str(), O_RDONLY);
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  CUdeviceptr other = 0;
  unsigned value = 0;
  if (file < 0 || use_device() != CUDA_SUCCESS) {
    return 1;
  }
  if (cuMemPoolImportFromShareableHandle(&pool, in_pointer(file), kFile, 0) !=
      CUDA_SUCCESS) {
    return 2;
  }
  if (cuMemAllocFromPoolAsync(&other, 8, pool, nullptr) !=
          CUDA_ERROR_INVALID_VALUE ||
      cuDeviceSetMemPool(0, pool) != CUDA_ERROR_INVALID_VALUE) {
    return 3; // nothing is allocated from a pool of another process
  }
  if (cuMemPoolImportPointer(&memory, pool, &gift.memory) != CUDA_SUCCESS ||
      cuMemcpyDtoH(&value, memory, sizeof(value)) != CUDA_SUCCESS) {
    return 4;
  }
  ++value;
  if (cuMemcpyHtoD(memory, &value, sizeof(value)) != CUDA_SUCCESS) {
    return 5;
  }
  if (cuMemFreeAsync(memory, nullptr) != CUDA_SUCCESS ||
      cuStreamSynchronize(nullptr) != CUDA_SUCCESS) {
    return 6;
  }
  if (cuMemcpyDtoH(&value, memory, 1) != CUDA_ERROR_INVALID_VALUE) {
    return 7; // it is gone here
  }
  // Once more, freed at once.
  if (cuMemPoolImportPointer(&memory, pool, &gift.memory) != CUDA_SUCCESS ||
      cuMemFree(memory) != CUDA_SUCCESS) {
    return 8;
  }
  // And under work of a stream that nothing waits for.
  CUstream stream = nullptr;
  if (cuMemAlloc(&other, sizeof(value)) != CUDA_SUCCESS ||
      cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
    return 11;
  }
  for (int round = 0; round < 500; ++round) {
    if (cuMemPoolImportPointer(&memory, pool, &gift.memory) != CUDA_SUCCESS ||
        cuMemcpyDtoDAsync(other, memory, sizeof(value), stream) !=
            CUDA_SUCCESS ||
        cuMemFreeAsync(memory, nullptr) != CUDA_SUCCESS) {
      return 12;
    }
  }
  unsigned copied = 0;
  if (cuStreamSynchronize(stream) != CUDA_SUCCESS ||
      cuMemcpyDtoH(&copied, other, sizeof(copied)) != CUDA_SUCCESS ||
      copied != value) {
    return 13;
  }
  return cuMemPoolDestroy(pool) == CUDA_SUCCESS ? 0 : 9;
}

TEST(PoolIpc, AnotherProcessWorksOnTheMemoryOfAPool) {
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  // Before the first use of CUDA: a process that forks afterwards leaves its
  // child without it.
  const pid_t child = fork();
  if (child == 0) {
    Gift gift;
    const bool complete =
        read(to_child[0], &gift, sizeof(gift)) == sizeof(gift);
    _exit(complete ? work_on(gift) : 10);
  }
  ASSERT_EQ(use_device(), CUDA_SUCCESS);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool closed = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&closed, &properties), CUDA_SUCCESS);
  properties.handleTypes = kFile;
  int supported = 0;
  EXPECT_EQ(
      cuDeviceGetAttribute(
          &supported, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0),
      CUDA_SUCCESS);
  EXPECT_NE(supported & kFile, 0);
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  unsigned value = 41;
  ASSERT_EQ(
      cuMemAllocFromPoolAsync(&memory, sizeof(value), pool, nullptr),
      CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(memory, &value, sizeof(value)), CUDA_SUCCESS);
  Gift gift{};
  EXPECT_EQ(
      cuMemPoolExportToShareableHandle(&gift.file, closed, kFile, 0),
      CUDA_ERROR_INVALID_VALUE); // was not made for it
  ASSERT_EQ(
      cuMemPoolExportToShareableHandle(&gift.file, pool, kFile, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolExportPointer(&gift.memory, memory), CUDA_SUCCESS);
  CUdeviceptr plain = 0;
  ASSERT_EQ(cuMemAlloc(&plain, 8), CUDA_SUCCESS);
  CUmemPoolPtrExportData none{};
  EXPECT_EQ(cuMemPoolExportPointer(&none, plain), CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool wrong = nullptr;
  EXPECT_EQ(
      cuMemPoolImportFromShareableHandle(
          &wrong, in_pointer(to_child[0]), kFile, 0),
      CUDA_ERROR_INVALID_VALUE); // no file of a pool
  ASSERT_EQ(
      write(to_child[1], &gift, sizeof(gift)),
      static_cast<ssize_t>(sizeof(gift)));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_EQ(cuMemcpyDtoH(&value, memory, sizeof(value)), CUDA_SUCCESS);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(cuMemFreeAsync(memory, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

} // namespace
