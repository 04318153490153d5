// Which devices run the CUDA kernels of this build, and which do not.
#pragma once

#include <c10/core/Device.h>

namespace torch_cuda::operators {

/// True for a build with upstream's CUDA kernels, whichever its op profile has.
/// To be asked before anything is registered.
bool has_upstreams_kernels();

/// True for a device that runs CUDA code: upstream's kernels serve its tensors,
/// in a build that has them.
/// The first call asks the runtime about all devices; without a runtime that
/// can be asked they are NVIDIA's, and all of them do.
bool serves_itself(c10::DeviceIndex device);

/// True for a device whose memory the host reads and writes at its addresses:
/// the CPU's kernels work on it. Those of the others work on copies.
bool host_sees(c10::DeviceIndex device);

/// True when all devices of this process run CUDA code.
bool all_serve_themselves();

/// True when some devices of this process run CUDA code, and others do not.
bool mixed();

} // namespace torch_cuda::operators
