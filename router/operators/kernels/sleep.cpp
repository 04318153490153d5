// A host function that waits.
#include "router/operators/kernels/sleep.h"

#include "router/operators/dispatch/devices.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

namespace {

void wait(void* microseconds) {
  std::this_thread::sleep_for(
      std::chrono::microseconds(reinterpret_cast<std::intptr_t>(microseconds)));
}

} // namespace

int torch_cuda_sleep(std::int64_t cycles) {
  try {
    const auto device = c10::cuda::current_device();
    if (torch_cuda::operators::serves_itself(device)) {
      return 0;
    }
    int kilohertz = 0;
    const cudaError_t asked =
        cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device);
    if (asked != cudaSuccess) {
      return -static_cast<int>(asked);
    }
    constexpr int kUnknown = 1'000'000; // 1 GHz
    const std::int64_t rate = kilohertz > 0 ? kilohertz : kUnknown;
    cycles = std::max<std::int64_t>(cycles, 0);
    const std::int64_t microseconds =
        cycles / rate * 1000 + cycles % rate * 1000 / rate;
    const cudaError_t given = cudaLaunchHostFunc(
        c10::cuda::getCurrentCUDAStream(device).stream(),
        wait,
        reinterpret_cast<void*>(static_cast<std::intptr_t>(microseconds)));
    return given == cudaSuccess ? 1 : -static_cast<int>(given);
  } catch (const std::exception&) {
    return -static_cast<int>(cudaErrorUnknown);
  }
}
