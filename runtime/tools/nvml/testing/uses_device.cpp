// A process that uses device 0: uses_device BYTES [busy] [context] [forked].
// Writes its number when it does, and then waits to be killed.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char** arguments) {
  const auto has = [&](const char* word) {
    for (int i = 2; i < count; ++i) {
      if (std::strcmp(arguments[i], word) == 0) {
        return true;
      }
    }
    return false;
  };
  prctl(PR_SET_PDEATHSIG, SIGKILL); // if the test fails
  CUcontext context = nullptr;
  void* memory = nullptr;
  if (count < 2 ||
      (has("context") &&
       (cuInit(0) != CUDA_SUCCESS ||
        cuCtxCreate(&context, 0, 0) != CUDA_SUCCESS)) ||
      cudaMalloc(&memory, std::strtoul(arguments[1], nullptr, 10)) !=
          cudaSuccess) {
    return 1;
  }
  const auto wait = [](void*) { pause(); };
  if (has("busy") &&
      cudaLaunchHostFunc(nullptr, wait, nullptr) != cudaSuccess) {
    return 1;
  }
  const int child = has("forked") ? fork() : -1;
  if (child == 0) {
    pause();
  }
  std::printf("%d %d\n", getpid(), child);
  std::fclose(stdout);
  pause();
}
