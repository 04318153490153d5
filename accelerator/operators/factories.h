// Memory for tensors, and what else every program needs, in builds that have
// no kernel of upstream's (--//config:ops=runtime).
#pragma once

namespace torch_cuda::operators {

/// True for a build with upstream's CUDA kernels, whichever its op profile has.
bool has_upstreams_kernels();

/// Registers what upstream keeps in its files of kernels, and is none: empty
/// tensors, zeros without memory, and the use of memory by a stream. For a build
/// without kernels only.
void register_factories();

} // namespace torch_cuda::operators
