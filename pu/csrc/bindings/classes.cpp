// torch.classes.torch_pu.Names: what takes and gives tensors and process groups
// of Python's.
//
// Static methods of a class of TorchScript: PyTorch converts their arguments
// and calls them as they are, with no dispatch on tensors in between. So the
// library has nothing of Python's ABI, and serves every Python that its PyTorch
// has a build for. A process group's backend is no class of TorchScript in all
// versions of PyTorch; it goes in and out within a process group, which is.
#include "pu/csrc/device/names.h"
#include "pu/csrc/distributed/pccl.h"
#include "pu/csrc/operators/other_name.h"

#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace torch_pu {
namespace {

using GroupPtr = c10::intrusive_ptr<c10d::ProcessGroup>;

struct Functions final : torch::CustomClassHolder {};

at::Tensor as_cuda(const at::Tensor& tensor) {
  return as_other_name(tensor, kCuda);
}

at::Tensor as_pu(const at::Tensor& tensor) {
  return as_other_name(tensor, kPu);
}

// Gives a group of CUDA's a backend for pu, which goes to that for CUDA.
void add_pccl(const GroupPtr& group) {
  group->setBackend(
      kPu,
      c10d::ProcessGroup::BackendType::CUSTOM,
      make_pccl(group->getBackend(kCuda)));
}

// Gives an empty group the backend below that for pu of another, as its own for
// CUDA. Returns whether there is one.
bool put_cuda_below(const GroupPtr& group, const GroupPtr& empty) {
  const auto below = cuda_below(group->getBackend(kPu));
  if (below) {
    empty->setBackend(kCuda, c10d::ProcessGroup::BackendType::NCCL, below);
  }
  return below != nullptr;
}

TORCH_LIBRARY(torch_pu, library) {
  library.class_<Functions>("Names")
      .def_static("as_cuda", &as_cuda)
      .def_static("as_pu", &as_pu)
      .def_static("add_pccl", &add_pccl)
      .def_static("put_cuda_below", &put_cuda_below);
}

} // namespace
} // namespace torch_pu
