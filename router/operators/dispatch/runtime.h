// What the runtime says and takes beyond CUDA's own API.
#pragma once

#include <c10/core/Device.h>

namespace torch_cuda::operators {

/// A function of the runtime by its name; null where the process has NVIDIA's.
/// runtime/core/machine/capabilities_api.h and
/// runtime/core/graphs/stream_wait_api.h have them.
void* runtime_function(const char* name);

/// Says on stderr what a host function could not do on a device, and puts the
/// device at fault: CUDA's next call answers cudaErrorAssert, as after a
/// kernel's failed assertion.
void fail_device(
    c10::DeviceIndex device,
    const char* what,
    const char* reason) noexcept;

} // namespace torch_cuda::operators
