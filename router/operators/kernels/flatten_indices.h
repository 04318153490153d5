// The places of a sparse tensor's elements, as one number each.
#pragma once

namespace torch_cuda::operators {

/// Has PyTorch's function for this served by the host's: it asks for CUDA's
/// kernel by the device, past the dispatcher, wherever places are validated.
void route_flatten_indices();

} // namespace torch_cuda::operators
