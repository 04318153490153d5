// Tensors of the stand-in as those of the CPU.
#include "adapter/testing/stand_in/csrc/distributed/sccl.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "adapter/testing/stand_in/csrc/operators/storages.h"
#include "router/aliasing/aliases.h"
#include "router/facade/process_group.h"

namespace torch_stand_in {
namespace {

using at::Tensor;

// What was put into the devices' streams before the collective is waited for
// when its tensors go across.
class OnHost final : public torch_cuda::facade::Collective {
 public:
  explicit OnHost(int ranks) : ranks_(ranks) {}

  Tensor across(const Tensor& near) override {
    return aliases_.far(near, /*written=*/true);
  }

  // gloo has no average: it sums, and the rest is done at the end.
  c10d::ReduceOp across(
      const c10d::ReduceOp& reduction,
      const std::vector<Tensor>& written) override {
    if (reduction != c10d::ReduceOp::AVG) {
      return reduction;
    }
    to_divide_ = written;
    return c10d::ReduceOp::SUM;
  }

  Tensor back(const Tensor& far) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return aliases_.near(far);
  }

  // Memory that the host does not see gets the results, once.
  void finish() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(finished_, true)) {
      for (auto& tensor : to_divide_) {
        tensor.is_floating_point() || tensor.is_complex()
            ? tensor.div_(ranks_)
            : tensor.div_(ranks_, "floor");
      }
      aliases_.take_over();
    }
  }

 private:
  std::mutex mutex_;
  CallStorages storages_;
  torch_cuda::aliasing::Aliases aliases_{
      storages_,
      c10::kPrivateUse1,
      c10::kCPU};
  std::vector<Tensor> to_divide_;
  int ranks_;
  bool finished_ = false;
};

} // namespace

c10::intrusive_ptr<c10d::Backend> make_sccl(
    c10::intrusive_ptr<c10d::Backend> cpu) {
  const int ranks = cpu->getSize();
  return torch_cuda::facade::make_process_group(
      "sccl", c10::kCPU, std::move(cpu), [ranks] {
        return std::make_shared<OnHost>(ranks);
      });
}

} // namespace torch_stand_in
