// The runtime's answers beyond CUDA's own API.
#pragma once

#include "accelerator/abi/device_api.h"

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>

namespace torch_cuda::operators {

class Runtime {
 public:
  /// Null where the process has NVIDIA's runtime, whose devices run CUDA code.
  static const Runtime* get();

  /// Bits of accel_capability.
  std::uint64_t capabilities(c10::DeviceIndex device) const;

  /// Name and file of a device's library.
  std::pair<std::string, std::string> library(c10::DeviceIndex device) const;

  /// Puts a call into a stream (ACCEL_CAP_SUBMIT in
  /// accelerator/abi/device_api.h).
  void submit(
      cudaStream_t stream,
      accel_status (*function)(void* native_stream, void* data),
      void* data) const;

 private:
  explicit Runtime(void* library);

  // Of the runtime, by these names.
  int (*capabilities_)(int, std::uint64_t*);
  int (*library_)(int, const char**, const char**);
  cudaError_t (*submit_)(cudaStream_t, accel_status (*)(void*, void*), void*);
};

} // namespace torch_cuda::operators
