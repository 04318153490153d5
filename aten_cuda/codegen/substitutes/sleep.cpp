// Takes the place of cuda/Sleep.cu in builds whose op profile has no kernel:
// the stream waits in a function of the host, as long as a kernel would have
// counted the device's clock.

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDAException.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace at::cuda {
namespace {

void wait(void* nanoseconds) {
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(reinterpret_cast<std::intptr_t>(nanoseconds)));
}

} // namespace

void sleep(int64_t cycles) {
  constexpr double kNanosecondsInAMillisecond = 1e6;
  const int kilohertz = getCurrentDeviceProperties()->clockRate;
  const double nanoseconds = kilohertz > 0
      ? static_cast<double>(cycles) * kNanosecondsInAMillisecond / kilohertz
      : 0;
  C10_CUDA_CHECK(cudaLaunchHostFunc(
      getCurrentCUDAStream(),
      wait,
      reinterpret_cast<void*>(static_cast<std::intptr_t>(nanoseconds))));
}

void flush_icache() {}

} // namespace at::cuda
