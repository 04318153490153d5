// Memory for tensors, and what else every program needs, in builds that have
// no kernel of upstream's (--//config:ops=runtime).
#pragma once

namespace torch_cuda::operators {

/// Registers what upstream keeps in its files of kernels, and is none: empty
/// tensors, zeros without memory, and the use of memory by a stream. For a
/// build without kernels only.
void register_factories();

} // namespace torch_cuda::operators
