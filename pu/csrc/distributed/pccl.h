// pccl: torch.distributed on pu, by another process group on CUDA's tensors.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace torch_pu {

/// A process group whose tensors are pu's. Every call goes to `cuda` with the
/// same memory as CUDA's tensors; what its works hand out is pu's.
c10::intrusive_ptr<c10d::Backend> make_pccl(
    c10::intrusive_ptr<c10d::Backend> cuda);

/// The process group of CUDA below one of pu; null for any other.
c10::intrusive_ptr<c10d::Backend> cuda_below(
    const c10::intrusive_ptr<c10d::Backend>& backend);

} // namespace torch_pu
