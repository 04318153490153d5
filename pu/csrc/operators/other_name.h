// One memory under the two names: pu and cuda. Tensor.to between the two is
// PyTorch's own, which copies, as between any two devices.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_pu {

/// The same memory as a tensor of CUDA for one of pu, and the other way round,
/// of any layout. Autograd does not see it, but for what it has saved: the two
/// share a version counter.
at::Tensor to_other_name(const at::Tensor& tensor);

/// The same for a program that asks for it. A tensor of `type` is given back as
/// it is. Throws for tensors that carry gradients, which would not see what is
/// written under the other name, and for wrappers of other tensors.
at::Tensor as_other_name(const at::Tensor& tensor, c10::DeviceType type);

/// Whether lend() can take a tensor: a dense one of pu or CUDA that wraps no
/// other and carries no gradient of forward mode.
bool can_be_lent(const at::Tensor& tensor);

/// The same memory under the other name, with gradients that go through. The
/// result is neither a view nor a copy for autograd, so a program must never
/// have both in its hands.
at::Tensor lend(const at::Tensor& tensor);

} // namespace torch_pu
