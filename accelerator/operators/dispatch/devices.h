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
///
/// Throws where a device runs no code and the host does not see its memory
/// either: no kernel could serve it.
bool serves_itself(c10::DeviceIndex device);

/// True when all devices of this process run CUDA code.
bool all_serve_themselves();

/// True when some devices of this process run CUDA code, and others do not.
bool mixed();

} // namespace torch_cuda::operators
