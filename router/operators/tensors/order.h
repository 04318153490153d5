// The order of a stream, for kernels that run on the host.
#pragma once

#include <c10/core/Device.h>

namespace torch_cuda::operators {

/// Returns when what was given to the current stream of a device is done, so
/// that a kernel of the CPU may touch its memory. The kernel itself is done
/// when its call returns; what is given to the stream afterwards comes after
/// it.
///
/// For a stream that is being captured it throws what CUDA answers to who
/// waits for one, cudaErrorStreamCaptureUnsupported, and the capture is
/// invalid.
void wait_for_current_stream(c10::DeviceIndex device);

} // namespace torch_cuda::operators
