// Calls across to the CPU's memory, results back.
#include "adapter/testing/stand_in/csrc/distributed/sccl.h"

#include <ATen/core/ivalue.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "accelerator/aliasing/aliases.h"
#include "adapter/testing/stand_in/csrc/operators/storages.h"

namespace torch_stand_in {
namespace {

using at::Tensor;
using c10::IValue;
using c10d::Work;
using Tensors = std::vector<Tensor>;
using WorkPtr = c10::intrusive_ptr<Work>;

constexpr auto kStandIn = c10::DeviceType::PrivateUse1;

// The tensors of one collective. What was put into the devices' streams before
// it is waited for when they go across.
class Crossing {
 public:
  Tensor across(const Tensor& tensor) {
    if (tensor.defined() && tensor.device().type() == kStandIn) {
      devices_.insert(tensor.device());
    }
    return aliases_.far(tensor, /*written=*/true);
  }
  Tensors across(const Tensors& tensors) {
    Tensors result;
    for (const auto& tensor : tensors) {
      result.push_back(across(tensor));
    }
    return result;
  }
  std::vector<Tensors> across(const std::vector<Tensors>& lists) {
    std::vector<Tensors> result;
    for (const auto& tensors : lists) {
      result.push_back(across(tensors));
    }
    return result;
  }

  // Memory that the host does not see gets the results, once.
  void finish() {
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

  // gloo has no average: it sums, and the rest is done at the end.
  c10d::ReduceOp summing(
      const c10d::ReduceOp& reduction,
      const Tensors& there,
      int ranks) {
    if (reduction != c10d::ReduceOp::AVG) {
      return reduction;
    }
    to_divide_ = there;
    ranks_ = ranks;
    return c10d::ReduceOp::SUM;
  }

  IValue back(const IValue& value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return back_unlocked(value);
  }

  std::vector<c10::Device> devices() const {
    return {devices_.begin(), devices_.end()};
  }

 private:
  struct Before {
    bool operator()(c10::Device one, c10::Device other) const {
      return one.index() < other.index();
    }
  };

  IValue back_unlocked(const IValue& value) {
    if (value.isTensor()) {
      return aliases_.near(value.toTensor());
    }
    if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const auto& tensor : value.toTensorVector()) {
        list.push_back(aliases_.near(tensor));
      }
      return list;
    }
    if (value.isList()) {
      c10::impl::GenericList list(value.toList().elementType());
      for (const IValue& element : value.toListRef()) {
        list.push_back(back_unlocked(element));
      }
      return list;
    }
    return value;
  }

  std::mutex mutex_;
  CallStorages storages_;
  torch_cuda::aliasing::Aliases aliases_{storages_, kStandIn, c10::kCPU};
  std::set<c10::Device, Before> devices_;
  Tensors to_divide_;
  int ranks_ = 1;
  bool finished_ = false;
};

using CrossingPtr = std::shared_ptr<Crossing>;
using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

class ScclWork final : public Work {
 public:
  ScclWork(WorkPtr cpu, CrossingPtr crossing)
      : Work(-1, cpu->retrieveOpType()),
        cpu_(std::move(cpu)),
        crossing_(std::move(crossing)) {}

  bool isCompleted() override {
    return cpu_->isCompleted();
  }
  bool isSuccess() const override {
    return cpu_->isSuccess();
  }
  std::exception_ptr exception() const override {
    return cpu_->exception();
  }
  int sourceRank() const override {
    return cpu_->sourceRank();
  }
  Tensors result() override {
    crossing_->finish();
    return crossing_->back(cpu_->result()).toTensorVector();
  }
  void synchronize() override {
    cpu_->synchronize();
  }
  bool wait(std::chrono::milliseconds timeout) override {
    const bool done = cpu_->wait(timeout);
    crossing_->finish();
    return done;
  }
  void abort() override {
    cpu_->abort();
  }
  FuturePtr getFuture() override {
    auto cpu = cpu_->getFuture();
    auto own = c10::make_intrusive<c10::ivalue::Future>(
        cpu->elementType(), crossing_->devices());
    cpu->addCallback([own, crossing = crossing_](c10::ivalue::Future& done) {
      if (done.hasError()) {
        own->setError(done.exception_ptr());
        return;
      }
      try {
        crossing->finish();
        own->markCompleted(crossing->back(done.value()));
      } catch (...) {
        own->setError(std::current_exception());
      }
    });
    return own;
  }

 private:
  WorkPtr cpu_;
  CrossingPtr crossing_;
};

class Sccl final : public c10d::Backend {
 public:
  explicit Sccl(c10::intrusive_ptr<c10d::Backend> cpu)
      : Backend(cpu->getRank(), cpu->getSize()), cpu_(std::move(cpu)) {}

  const std::string getBackendName() const override {
    return "sccl";
  }
  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options)
      override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      return cpu_->broadcast(there, options);
    });
  }
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options)
      override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      auto summing = options;
      summing.reduceOp = crossing.summing(options.reduceOp, there, getSize());
      return cpu_->allreduce(there, summing);
    });
  }
  WorkPtr allreduce_coalesced(
      Tensors& tensors,
      const c10d::AllreduceCoalescedOptions& options) override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      return cpu_->allreduce_coalesced(there, options);
    });
  }
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options)
      override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      return cpu_->reduce(there, options);
    });
  }
  WorkPtr allgather(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(outputs);
      auto from = crossing.across(inputs);
      return cpu_->allgather(to, from, options);
    });
  }
  WorkPtr _allgather_base(
      Tensor& output,
      Tensor& input,
      const c10d::AllgatherOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(output);
      auto from = crossing.across(input);
      return cpu_->_allgather_base(to, from, options);
    });
  }
  WorkPtr allgather_into_tensor_coalesced(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(outputs);
      auto from = crossing.across(inputs);
      return cpu_->allgather_into_tensor_coalesced(to, from, options);
    });
  }
  WorkPtr gather(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::GatherOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(outputs);
      auto from = crossing.across(inputs);
      return cpu_->gather(to, from, options);
    });
  }
  WorkPtr scatter(
      Tensors& outputs,
      std::vector<Tensors>& inputs,
      const c10d::ScatterOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(outputs);
      auto from = crossing.across(inputs);
      return cpu_->scatter(to, from, options);
    });
  }
  WorkPtr reduce_scatter(
      Tensors& outputs,
      std::vector<Tensors>& inputs,
      const c10d::ReduceScatterOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(outputs);
      auto from = crossing.across(inputs);
      return cpu_->reduce_scatter(to, from, options);
    });
  }
  WorkPtr _reduce_scatter_base(
      Tensor& output,
      Tensor& input,
      const c10d::ReduceScatterOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(output);
      auto from = crossing.across(input);
      auto summing = options;
      summing.reduceOp = crossing.summing(options.reduceOp, {to}, getSize());
      return cpu_->_reduce_scatter_base(to, from, summing);
    });
  }
  WorkPtr reduce_scatter_tensor_coalesced(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::ReduceScatterOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(outputs);
      auto from = crossing.across(inputs);
      return cpu_->reduce_scatter_tensor_coalesced(to, from, options);
    });
  }
  WorkPtr alltoall_base(
      Tensor& output,
      Tensor& input,
      std::vector<int64_t>& output_sizes,
      std::vector<int64_t>& input_sizes,
      const c10d::AllToAllOptions& options) override {
    return call([&](Crossing& crossing) {
      auto to = crossing.across(output);
      auto from = crossing.across(input);
      return cpu_->alltoall_base(to, from, output_sizes, input_sizes, options);
    });
  }
  WorkPtr send(Tensors& tensors, int rank, int tag) override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      return cpu_->send(there, rank, tag);
    });
  }
  WorkPtr recv(Tensors& tensors, int rank, int tag) override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      return cpu_->recv(there, rank, tag);
    });
  }
  WorkPtr recvAnysource(Tensors& tensors, int tag) override {
    return call([&](Crossing& crossing) {
      auto there = crossing.across(tensors);
      return cpu_->recvAnysource(there, tag);
    });
  }
  WorkPtr barrier(const c10d::BarrierOptions& options) override {
    return call([&](Crossing&) {
      auto there = options;
      there.device = std::nullopt;
      there.device_ids.clear();
      return cpu_->barrier(there);
    });
  }

  void setSequenceNumberForGroup() override {
    cpu_->setSequenceNumberForGroup();
  }
  uint64_t getSequenceNumberForGroup() override {
    return cpu_->getSequenceNumberForGroup();
  }

 private:
  template <class Collective>
  WorkPtr call(const Collective& collective) {
    auto crossing = std::make_shared<Crossing>();
    WorkPtr cpu = collective(*crossing);
    return c10::make_intrusive<ScclWork>(std::move(cpu), std::move(crossing));
  }

  c10::intrusive_ptr<c10d::Backend> cpu_;
};

} // namespace

c10::intrusive_ptr<c10d::Backend> make_sccl(
    c10::intrusive_ptr<c10d::Backend> cpu) {
  return c10::make_intrusive<Sccl>(std::move(cpu));
}

} // namespace torch_stand_in
