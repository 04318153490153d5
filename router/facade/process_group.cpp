// Calls across, works back.
#include "router/facade/process_group.h"

#include "router/aliasing/torch_versions.h"

#include <ATen/core/ivalue.h>

#include <set>
#include <tuple>
#include <utility>

namespace torch_cuda::facade {
namespace {

using at::Tensor;
using c10::IValue;
using c10d::Work;
using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;
using Tensors = std::vector<Tensor>;
using WorkPtr = c10::intrusive_ptr<Work>;

// The tensors of one collective, and their devices.
class Tracked {
 public:
  explicit Tracked(std::shared_ptr<Collective> collective)
      : collective_(std::move(collective)) {}

  Tensor across(const Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_privateuseone()) {
      return tensor;
    }
    indices_.insert(tensor.device().index());
    return collective_->across(tensor);
  }
  template <class Element>
  std::vector<Element> across(const std::vector<Element>& list) {
    std::vector<Element> result;
    for (const auto& element : list) {
      result.push_back(across(element));
    }
    return result;
  }
  c10d::ReduceOp across(const c10d::ReduceOp& reduction, const Tensors& far) {
    return collective_->across(reduction, far);
  }

  IValue back(const IValue& value) const {
    if (value.isTensor()) {
      return value.toTensor().defined() ? collective_->back(value.toTensor())
                                        : value;
    }
    if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const auto& tensor : value.toTensorVector()) {
        list.push_back(back(tensor).toTensor());
      }
      return list;
    }
    if (value.isList()) {
      c10::impl::GenericList list(value.toList().elementType());
      for (const IValue& element : value.toListRef()) {
        list.push_back(back(element));
      }
      return list;
    }
    return value;
  }

  void finish() const {
    collective_->finish();
  }

  // A future on PrivateUse1's devices: what waits for it waits on the current
  // streams of these.
  FuturePtr back(const FuturePtr& far) const {
    auto indices = indices_;
    for (const auto device : far->devices()) {
      indices.insert(device.index());
    }
    std::vector<c10::Device> devices;
    for (const auto index : indices) {
      devices.emplace_back(c10::kPrivateUse1, index);
    }
    auto near = c10::make_intrusive<c10::ivalue::Future>(
        far->elementType(), std::move(devices));
    far->addCallback([near, tracked = *this](c10::ivalue::Future& done) {
      if (done.hasError()) {
        near->setError(done.exception_ptr());
        return;
      }
      try {
        tracked.finish();
        near->markCompleted(tracked.back(done.value()));
      } catch (...) {
        near->setError(std::current_exception());
      }
    });
    return near;
  }

 private:
  std::shared_ptr<Collective> collective_;
  std::set<c10::DeviceIndex> indices_;
};

class NearWork final : public Work {
 public:
  NearWork(WorkPtr far, Tracked tensors)
      : Work(-1, far->retrieveOpType()),
        far_(std::move(far)),
        tensors_(std::move(tensors)) {}

  bool isCompleted() override {
    return far_->isCompleted();
  }
  bool isSuccess() const override {
    return far_->isSuccess();
  }
  std::exception_ptr exception() const override {
    return far_->exception();
  }
  int sourceRank() const override {
    return far_->sourceRank();
  }
  Tensors result() override {
    tensors_.finish();
    return tensors_.back(IValue(far_->result())).toTensorVector();
  }
  void synchronize() override {
    far_->synchronize();
  }
  bool wait(std::chrono::milliseconds timeout) override {
    const bool done = far_->wait(timeout);
    tensors_.finish();
    return done;
  }
#if TORCH_CUDA_TORCH_SINCE(9)
  void blockCurrentStream() override {
    far_->blockCurrentStream();
  }
#endif
  void abort() override {
    far_->abort();
  }
  FuturePtr getFuture() override {
    return tensors_.back(far_->getFuture());
  }
  FuturePtr getFutureResult() override {
    return far_->getFutureResult();
  }
  float getDuration() const override {
    return far_->getDuration();
  }
  uint64_t getSequencenumber() const override {
    return far_->getSequencenumber();
  }
#if TORCH_CUDA_TORCH_SINCE(15)
  std::chrono::milliseconds getTimeout() const override {
    return far_->getTimeout();
  }
  uint64_t getCompletionKey() const override {
    return far_->getCompletionKey();
  }
#endif

 private:
  WorkPtr far_;
  Tracked tensors_;
};

Tensors list_of(const Tensor& tensor) {
  return {tensor};
}
Tensors list_of(const Tensors& tensors) {
  return tensors;
}

class ProcessGroup final : public c10d::Backend {
 public:
  using Begin = std::function<std::shared_ptr<Collective>()>;

  ProcessGroup(
      std::string name,
      c10::DeviceType type,
      c10::intrusive_ptr<Backend> far,
      Begin begin)
      : Backend(far->getRank(), far->getSize()),
        name_(std::move(name)),
        type_(type),
        far_(std::move(far)),
        begin_(std::move(begin)) {}

  const c10::intrusive_ptr<Backend>& far() const {
    return far_;
  }

  const std::string getBackendName() const override {
    return name_;
  }
  void startCoalescing() override {
    far_->startCoalescing();
  }
  WorkPtr endCoalescing() override {
    return near(far_->endCoalescing(), Tracked(begin_()));
  }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options)
      override {
    return call(&Backend::broadcast, options, tensors);
  }
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options)
      override {
    return reduced(&Backend::allreduce, options, tensors);
  }
  WorkPtr allreduce_coalesced(
      Tensors& tensors,
      const c10d::AllreduceCoalescedOptions& options) override {
    return reduced(&Backend::allreduce_coalesced, options, tensors);
  }
  // Only one process gets the result.
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options)
      override {
    return call(&Backend::reduce, options, tensors);
  }
  WorkPtr allgather(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    return call(&Backend::allgather, options, outputs, inputs);
  }
  WorkPtr _allgather_base(
      Tensor& output,
      Tensor& input,
      const c10d::AllgatherOptions& options) override {
    return call(&Backend::_allgather_base, options, output, input);
  }
  WorkPtr allgather_coalesced(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    return call(&Backend::allgather_coalesced, options, outputs, inputs);
  }
  WorkPtr allgather_into_tensor_coalesced(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    return call(
        &Backend::allgather_into_tensor_coalesced, options, outputs, inputs);
  }
  WorkPtr gather(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::GatherOptions& options) override {
    return call(&Backend::gather, options, outputs, inputs);
  }
#if TORCH_CUDA_TORCH_SINCE(15)
  WorkPtr gather_single(
      Tensor& output,
      Tensor& input,
      const c10d::GatherOptions& options) override {
    return call(&Backend::gather_single, options, output, input);
  }
#endif
  WorkPtr scatter(
      Tensors& outputs,
      std::vector<Tensors>& inputs,
      const c10d::ScatterOptions& options) override {
    return call(&Backend::scatter, options, outputs, inputs);
  }
  WorkPtr reduce_scatter(
      Tensors& outputs,
      std::vector<Tensors>& inputs,
      const c10d::ReduceScatterOptions& options) override {
    return reduced(&Backend::reduce_scatter, options, outputs, inputs);
  }
  WorkPtr _reduce_scatter_base(
      Tensor& output,
      Tensor& input,
      const c10d::ReduceScatterOptions& options) override {
    return reduced(&Backend::_reduce_scatter_base, options, output, input);
  }
  WorkPtr reduce_scatter_tensor_coalesced(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::ReduceScatterOptions& options) override {
    return reduced(
        &Backend::reduce_scatter_tensor_coalesced, options, outputs, inputs);
  }
  WorkPtr alltoall(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::AllToAllOptions& options) override {
    return call(&Backend::alltoall, options, outputs, inputs);
  }
  WorkPtr alltoall_base(
      Tensor& output,
      Tensor& input,
      std::vector<int64_t>& output_sizes,
      std::vector<int64_t>& input_sizes,
      const c10d::AllToAllOptions& options) override {
    Tracked tensors(begin_());
    auto to = tensors.across(output), from = tensors.across(input);
    return near(
        far_->alltoall_base(to, from, output_sizes, input_sizes, options),
        std::move(tensors));
  }
  WorkPtr send(Tensors& tensors, int rank, int tag) override {
    Tracked tracked(begin_());
    auto there = tracked.across(tensors);
    return near(far_->send(there, rank, tag), std::move(tracked));
  }
  WorkPtr recv(Tensors& tensors, int rank, int tag) override {
    Tracked tracked(begin_());
    auto there = tracked.across(tensors);
    return near(far_->recv(there, rank, tag), std::move(tracked));
  }
  WorkPtr recvAnysource(Tensors& tensors, int tag) override {
    return call(&Backend::recvAnysource, tag, tensors);
  }
  WorkPtr barrier(const c10d::BarrierOptions& options) override {
    auto there = options;
    if (type_ == c10::kCPU) {
      there.device = std::nullopt;
      there.device_ids.clear();
    } else if (there.device) {
      there.device = c10::Device(type_, there.device->index());
    }
    return near(far_->barrier(there), Tracked(begin_()));
  }

  void setSequenceNumberForGroup() override {
    far_->setSequenceNumberForGroup();
  }
  uint64_t getSequenceNumberForGroup() override {
    return far_->getSequenceNumberForGroup();
  }
  void waitForPendingWorks() override {
    far_->waitForPendingWorks();
  }
  void enableCollectivesTiming() override {
    far_->enableCollectivesTiming();
  }
  void eagerConnectSingleDevice(at::Device device) override {
    far_->eagerConnectSingleDevice({type_, device.index()});
  }
#if TORCH_CUDA_TORCH_SINCE(9)
  void abort() override {
    far_->abort();
  }
  void shutdown() override {
    far_->shutdown();
  }
  bool supportsCoalescing() const override {
    return far_->supportsCoalescing();
  }
  c10::intrusive_ptr<Options> getBackendOptions() override {
    return far_->getBackendOptions();
  }
  void setTimeout(std::chrono::milliseconds timeout) override {
    far_->setTimeout(timeout);
  }
  c10d::ErrorType getError() override {
    return far_->getError();
  }
#endif
#if TORCH_CUDA_TORCH_SINCE(12)
  void suspend() override {
    far_->suspend();
  }
  void resume() override {
    far_->resume();
  }
  std::unordered_map<std::string, uint64_t> getMemoryStats() override {
    return far_->getMemoryStats();
  }
#endif
#if TORCH_CUDA_TORCH_SINCE(15)
  bool isInitialized() override {
    return far_->isInitialized();
  }
  void addEphemeralTimeout(const std::chrono::milliseconds& timeout) override {
    far_->addEphemeralTimeout(timeout);
  }
#endif

 private:
  static WorkPtr near(WorkPtr far, Tracked tensors) {
    return far
        ? c10::make_intrusive<NearWork>(std::move(far), std::move(tensors))
        : nullptr;
  }

  template <class Method, class Options, class... Lists>
  WorkPtr call(Method method, const Options& options, Lists&... lists) {
    Tracked tensors(begin_());
    // Braces: from the left to the right.
    std::tuple<Lists...> there{tensors.across(lists)...};
    auto work = std::apply(
        [&](auto&... far) { return ((*far_).*method)(far..., options); },
        there);
    return near(std::move(work), std::move(tensors));
  }

  // The first list is written to.
  template <class Method, class Options, class... Lists>
  WorkPtr reduced(Method method, const Options& options, Lists&... lists) {
    Tracked tensors(begin_());
    std::tuple<Lists...> there{tensors.across(lists)...};
    auto reducing = options;
    reducing.reduceOp =
        tensors.across(options.reduceOp, list_of(std::get<0>(there)));
    auto work = std::apply(
        [&](auto&... far) { return ((*far_).*method)(far..., reducing); },
        there);
    return near(std::move(work), std::move(tensors));
  }

  std::string name_;
  c10::DeviceType type_;
  c10::intrusive_ptr<Backend> far_;
  Begin begin_;
};

} // namespace

c10::intrusive_ptr<c10d::Backend> make_process_group(
    std::string name,
    c10::DeviceType type,
    c10::intrusive_ptr<c10d::Backend> far,
    std::function<std::shared_ptr<Collective>()> begin) {
  return c10::make_intrusive<ProcessGroup>(
      std::move(name), type, std::move(far), std::move(begin));
}

c10::intrusive_ptr<c10d::Backend> far_of(
    const c10::intrusive_ptr<c10d::Backend>& backend) {
  const auto* near = dynamic_cast<const ProcessGroup*>(backend.get());
  return near ? near->far() : nullptr;
}

} // namespace torch_cuda::facade
