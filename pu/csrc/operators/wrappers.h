// Operators of tensors that wrap those of pu, as within torch.func.
#pragma once

#include <torch/library.h>

namespace torch_pu {

/// Wrappers take over the keys of some devices, and PrivateUse1 is not among
/// them: autograd sees tensors of no device, at AutogradOther. There, PyTorch
/// refuses composites of which a device like Vulkan has a kernel of its own,
/// since it cannot tell which of the two is meant. Registers the composites,
/// for wrappers have no other kernel. Before any of pu's own operators.
void register_for_wrappers(torch::Library& autograd_other);

} // namespace torch_pu
