// Tensors of pu as those of CUDA.
#include "pu/csrc/distributed/pccl.h"

#include "pu/csrc/device/names.h"
#include "pu/csrc/operators/other_name.h"
#include "router/facade/process_group.h"

#include <memory>
#include <utility>

namespace torch_pu {
namespace {

class Names final : public torch_cuda::facade::Collective {
 public:
  using Collective::across;

  at::Tensor across(const at::Tensor& pu) override {
    return to_other_name(pu);
  }
  at::Tensor back(const at::Tensor& cuda) override {
    return cuda.is_cuda() ? to_other_name(cuda) : cuda;
  }
};

} // namespace

c10::intrusive_ptr<c10d::Backend> make_pccl(
    c10::intrusive_ptr<c10d::Backend> cuda) {
  return torch_cuda::facade::make_process_group(
      "pccl", kCuda, std::move(cuda), [] { return std::make_shared<Names>(); });
}

c10::intrusive_ptr<c10d::Backend> cuda_below(
    const c10::intrusive_ptr<c10d::Backend>& backend) {
  return torch_cuda::facade::far_of(backend);
}

} // namespace torch_pu
