// Who copies.
#include "router/operators/copy.h"

#include "router/operators/capture/stream_capture.h"
#include "router/operators/dispatch/devices.h"

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Copy.h>
#include <ATen/ops/copy_native.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace torch_cuda::operators {
namespace {

bool reads_alike(const at::Tensor& a, const at::Tensor& b) {
  return a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg() &&
      !b._is_zerotensor();
}

// Upstream needs no kernel for it.
bool is_one_transfer(const at::Tensor& to, const at::Tensor& from) {
  return to.scalar_type() == from.scalar_type() && to.sizes() == from.sizes() &&
      to.is_contiguous() && from.is_contiguous() && reads_alike(to, from);
}

// Both sides run CUDA code.
bool served_by_both(const at::Tensor& to, const at::Tensor& from) {
  return mixed() && serves_itself(to.device().index()) &&
      serves_itself(from.device().index());
}

// What is behind other work goes into the stream, so that nobody waits for it.
// Where there is none, the host copies at once.
bool in_stream(c10::DeviceIndex device) {
  if (is_captured(device)) {
    return true;
  }
  // What another thread captures is no business of this stream.
  const c10::cuda::CUDAStreamCaptureModeGuard relaxed(
      cudaStreamCaptureModeRelaxed);
  return !c10::cuda::getCurrentCUDAStream(device).query();
}

bool upstream_copies(const at::Tensor& to, const at::Tensor& from) {
  if (to.layout() != c10::kStrided || from.layout() != c10::kStrided ||
      !to.is_cuda() || !from.is_cuda()) {
    return true; // it copies part by part, or to the host
  }
  const auto device = to.device();
  return served_by_both(to, from) ||
      (is_one_transfer(to, from) &&
       (device != from.device() || in_stream(device.index()) ||
        !host_sees(device.index())));
}

// Which kernel copies on CUDA is private, and PyTorch has no function for it.
// An explicit instantiation may name private members ([temp.spec.general]).
using Stub = at::native::copy_stub_DECLARE_DISPATCH_type;
using StubBase = at::native::DispatchStub<at::native::copy_fn, Stub>;
using Kernels = at::native::DispatchStubImpl StubBase::*;

Kernels kernels();

template <Kernels member>
struct Member {
  friend Kernels kernels() {
    return member;
  }
};

template struct Member<&StubBase::impl>;

at::native::copy_fn upstreams_copy = nullptr;

// What has come past the dispatcher's key of CUDA: by a redispatch to the
// composite, which asks the stub.
void copy_past_the_router(at::TensorIterator& iterator, bool non_blocking) {
  const at::Tensor& to = iterator.tensor(0);
  const at::Tensor& from = iterator.tensor(1);
  if (upstream_copies(to, from)) {
    upstreams_copy(iterator, non_blocking);
    return;
  }
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  static const HostCall plain(op, c10::DispatchKey::CPU);
  static const HostCall quantized(op, c10::DispatchKey::QuantizedCPU);
  torch::jit::Stack stack{to, from, non_blocking};
  (to.is_quantized() ? quantized : plain)(op, &stack);
}

} // namespace

void route_copies_past_the_router() {
  auto& stub = at::native::copy_stub;
  upstreams_copy = reinterpret_cast<at::native::copy_fn>(
      (stub.*kernels()).cuda_dispatch_ptr);
  if (upstreams_copy != nullptr) {
    stub.set_cuda_dispatch_ptr(&copy_past_the_router);
  }
}

void CopyKernel::operator()(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    torch::jit::Stack* stack) {
  const auto arguments = torch::jit::last(*stack, 3);
  if (!upstream_copies(arguments[0].toTensor(), arguments[1].toTensor())) {
    call_(op, stack);
    return;
  }
  auto to = arguments[0].toTensor();
  at::native::copy_(to, arguments[1].toTensor(), arguments[2].toBool());
  torch::jit::drop(*stack, 3);
  torch::jit::push(*stack, std::move(to));
}

} // namespace torch_cuda::operators
