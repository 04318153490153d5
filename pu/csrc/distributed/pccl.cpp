// Calls across, works back.
#include "pu/csrc/distributed/pccl.h"

#include "pu/csrc/device/names.h"
#include "pu/csrc/operators/other_name.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <utility>
#include <vector>

namespace torch_pu {
namespace {

using at::Tensor;
using c10::IValue;
using c10d::Work;
using Tensors = std::vector<Tensor>;
using WorkPtr = c10::intrusive_ptr<Work>;

Tensor across(const Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kPu
      ? to_other_name(tensor)
      : tensor;
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

Tensor back(const Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda() ? to_other_name(tensor) : tensor;
}

Tensors back(const Tensors& tensors) {
  Tensors result;
  for (const auto& tensor : tensors) {
    result.push_back(back(tensor));
  }
  return result;
}

IValue back(const IValue& value) {
  if (value.isTensor()) {
    return back(value.toTensor());
  }
  if (value.isTensorList()) {
    return back(value.toTensorVector());
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

using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

// A future on pu's devices: what waits for it waits on the current streams of
// these, which are CUDA's.
FuturePtr back(const FuturePtr& cuda) {
  std::vector<c10::Device> devices;
  for (const auto device : cuda->devices()) {
    devices.push_back(to_pu(device));
  }
  auto pu = c10::make_intrusive<c10::ivalue::Future>(
      cuda->elementType(), std::move(devices));
  cuda->addCallback([pu](c10::ivalue::Future& done) {
    if (done.hasError()) {
      pu->setError(done.exception_ptr());
    } else {
      pu->markCompleted(back(done.value()));
    }
  });
  return pu;
}

class PcclWork final : public Work {
 public:
  explicit PcclWork(WorkPtr cuda)
      : Work(-1, cuda->retrieveOpType()), cuda_(std::move(cuda)) {}

  bool isCompleted() override {
    return cuda_->isCompleted();
  }
  bool isSuccess() const override {
    return cuda_->isSuccess();
  }
  std::exception_ptr exception() const override {
    return cuda_->exception();
  }
  int sourceRank() const override {
    return cuda_->sourceRank();
  }
  Tensors result() override {
    return back(cuda_->result());
  }
  void synchronize() override {
    cuda_->synchronize();
  }
  bool wait(std::chrono::milliseconds timeout) override {
    return cuda_->wait(timeout);
  }
  void abort() override {
    cuda_->abort();
  }
  FuturePtr getFuture() override {
    return back(cuda_->getFuture());
  }
  FuturePtr getFutureResult() override {
    return cuda_->getFutureResult();
  }
  float getDuration() const override {
    return cuda_->getDuration();
  }
  uint64_t getSequencenumber() const override {
    return cuda_->getSequencenumber();
  }

 private:
  WorkPtr cuda_;
};

WorkPtr wrapped(WorkPtr cuda) {
  return cuda ? c10::make_intrusive<PcclWork>(std::move(cuda)) : nullptr;
}

class Pccl final : public c10d::Backend {
 public:
  explicit Pccl(c10::intrusive_ptr<c10d::Backend> cuda)
      : Backend(cuda->getRank(), cuda->getSize()), cuda_(std::move(cuda)) {}

  const c10::intrusive_ptr<c10d::Backend>& cuda() const {
    return cuda_;
  }

  const std::string getBackendName() const override {
    return "pccl";
  }
  void startCoalescing() override {
    cuda_->startCoalescing();
  }
  WorkPtr endCoalescing() override {
    return wrapped(cuda_->endCoalescing());
  }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options)
      override {
    auto cuda = across(tensors);
    return wrapped(cuda_->broadcast(cuda, options));
  }
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options)
      override {
    auto cuda = across(tensors);
    return wrapped(cuda_->allreduce(cuda, options));
  }
  WorkPtr allreduce_coalesced(
      Tensors& tensors,
      const c10d::AllreduceCoalescedOptions& options) override {
    auto cuda = across(tensors);
    return wrapped(cuda_->allreduce_coalesced(cuda, options));
  }
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options)
      override {
    auto cuda = across(tensors);
    return wrapped(cuda_->reduce(cuda, options));
  }
  WorkPtr allgather(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->allgather(cuda_outputs, cuda_inputs, options));
  }
  WorkPtr _allgather_base(
      Tensor& output,
      Tensor& input,
      const c10d::AllgatherOptions& options) override {
    auto cuda_output = across(output);
    auto cuda_input = across(input);
    return wrapped(cuda_->_allgather_base(cuda_output, cuda_input, options));
  }
  WorkPtr allgather_coalesced(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(
        cuda_->allgather_coalesced(cuda_outputs, cuda_inputs, options));
  }
  WorkPtr allgather_into_tensor_coalesced(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::AllgatherOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->allgather_into_tensor_coalesced(
        cuda_outputs, cuda_inputs, options));
  }
  WorkPtr gather(
      std::vector<Tensors>& outputs,
      Tensors& inputs,
      const c10d::GatherOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->gather(cuda_outputs, cuda_inputs, options));
  }
  WorkPtr scatter(
      Tensors& outputs,
      std::vector<Tensors>& inputs,
      const c10d::ScatterOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->scatter(cuda_outputs, cuda_inputs, options));
  }
  WorkPtr reduce_scatter(
      Tensors& outputs,
      std::vector<Tensors>& inputs,
      const c10d::ReduceScatterOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->reduce_scatter(cuda_outputs, cuda_inputs, options));
  }
  WorkPtr _reduce_scatter_base(
      Tensor& output,
      Tensor& input,
      const c10d::ReduceScatterOptions& options) override {
    auto cuda_output = across(output);
    auto cuda_input = across(input);
    return wrapped(
        cuda_->_reduce_scatter_base(cuda_output, cuda_input, options));
  }
  WorkPtr reduce_scatter_tensor_coalesced(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::ReduceScatterOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->reduce_scatter_tensor_coalesced(
        cuda_outputs, cuda_inputs, options));
  }
  WorkPtr alltoall_base(
      Tensor& output,
      Tensor& input,
      std::vector<int64_t>& output_sizes,
      std::vector<int64_t>& input_sizes,
      const c10d::AllToAllOptions& options) override {
    auto cuda_output = across(output);
    auto cuda_input = across(input);
    return wrapped(cuda_->alltoall_base(
        cuda_output, cuda_input, output_sizes, input_sizes, options));
  }
  WorkPtr alltoall(
      Tensors& outputs,
      Tensors& inputs,
      const c10d::AllToAllOptions& options) override {
    auto cuda_outputs = across(outputs);
    auto cuda_inputs = across(inputs);
    return wrapped(cuda_->alltoall(cuda_outputs, cuda_inputs, options));
  }
  WorkPtr send(Tensors& tensors, int rank, int tag) override {
    auto cuda = across(tensors);
    return wrapped(cuda_->send(cuda, rank, tag));
  }
  WorkPtr recv(Tensors& tensors, int rank, int tag) override {
    auto cuda = across(tensors);
    return wrapped(cuda_->recv(cuda, rank, tag));
  }
  WorkPtr recvAnysource(Tensors& tensors, int tag) override {
    auto cuda = across(tensors);
    return wrapped(cuda_->recvAnysource(cuda, tag));
  }
  WorkPtr barrier(const c10d::BarrierOptions& options) override {
    auto cuda = options;
    if (cuda.device) {
      cuda.device = to_cuda(*cuda.device);
    }
    return wrapped(cuda_->barrier(cuda));
  }

  void setSequenceNumberForGroup() override {
    cuda_->setSequenceNumberForGroup();
  }
  uint64_t getSequenceNumberForGroup() override {
    return cuda_->getSequenceNumberForGroup();
  }
  void waitForPendingWorks() override {
    cuda_->waitForPendingWorks();
  }
  void enableCollectivesTiming() override {
    cuda_->enableCollectivesTiming();
  }
  void eagerConnectSingleDevice(at::Device device) override {
    cuda_->eagerConnectSingleDevice(to_cuda(device));
  }

 private:
  c10::intrusive_ptr<c10d::Backend> cuda_;
};

} // namespace

c10::intrusive_ptr<c10d::Backend> make_pccl(
    c10::intrusive_ptr<c10d::Backend> cuda) {
  return c10::make_intrusive<Pccl>(std::move(cuda));
}

c10::intrusive_ptr<c10d::Backend> cuda_below(
    const c10::intrusive_ptr<c10d::Backend>& backend) {
  const auto* pu = dynamic_cast<const Pccl*>(backend.get());
  return pu ? pu->cuda() : nullptr;
}

} // namespace torch_pu
