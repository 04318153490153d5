// Allocations, copies of bytes.
#include "adapter/testing/stand_in/csrc/operators/factories.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include <optional>

#include "adapter/testing/stand_in/csrc/device/pinned.h"
#include "adapter/testing/stand_in/csrc/device/type.h"
#include "adapter/testing/stand_in/csrc/graphs/recording.h"
#include "adapter/testing/stand_in/csrc/operators/call.h"
#include "c10/stand/StandCachingAllocator.h"
#include "c10/stand/StandGuard.h"
#include "router/composites/dropout.h"

namespace torch_stand_in {
namespace {

using at::Tensor;
using c10::DispatchKey;

constexpr c10::DispatchKeySet kKeys(DispatchKey::PrivateUse1);

void check_not_pinned(std::optional<bool> pin_memory) {
  TORCH_CHECK(
      !pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

Tensor empty(
    c10::IntArrayRef size,
    std::optional<c10::ScalarType> type,
    std::optional<c10::Layout> /*layout*/,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory,
    std::optional<c10::MemoryFormat> format) {
  check_not_pinned(pin_memory);
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_generic(
      size,
      c10::stand::StandCachingAllocator::get(),
      kKeys,
      c10::dtype_or_default(type),
      format);
}

Tensor empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<c10::ScalarType> type,
    std::optional<c10::Layout> /*layout*/,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory) {
  check_not_pinned(pin_memory);
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_strided_generic(
      size,
      stride,
      c10::stand::StandCachingAllocator::get(),
      kKeys,
      c10::dtype_or_default(type));
}

// Whether a copy is one of bytes.
bool is_plain(const Tensor& self, const Tensor& from) {
  const auto is_dense = [](const Tensor& tensor) {
    return tensor.layout() == c10::kStrided && tensor.has_storage() &&
        !tensor.is_quantized() && !tensor.is_nested() && !tensor.is_conj() &&
        !tensor.is_neg() && !tensor._is_zerotensor() &&
        (tensor.is_cpu() || tensor.device().type() == kStandIn);
  };
  return is_dense(self) && is_dense(from) &&
      self.scalar_type() == from.scalar_type() &&
      self.sizes() == from.sizes() && self.strides() == from.strides() &&
      self.is_non_overlapping_and_dense();
}

void copy_bytes(const Tensor& self, const Tensor& from, bool non_blocking) {
  using c10::stand::getCurrentStandStream;
  const bool to_host = self.is_cpu();
  const auto& device = to_host ? from.device() : self.device();
  const auto stream = getCurrentStandStream(device.index());
  if (!to_host && !from.is_cpu() && from.device() != self.device()) {
    // What the other device's stream has been given comes first.
    getCurrentStandStream(from.device().index()).synchronize();
  }
  if (auto* recording = Recording::active()) {
    TORCH_CHECK(
        (!to_host && !from.is_cpu()) || non_blocking,
        "stand-in error: operation not permitted when a graph is captured: "
        "the host waits for a copy");
    recording->keep(self);
    recording->keep(from);
  }
  const auto bytes = static_cast<size_t>(self.numel()) * self.element_size();
  C10_STAND_CHECK(standMemcpyAsync(
      self.mutable_data_ptr(),
      from.const_data_ptr(),
      bytes,
      standMemcpyDefault,
      stream));
  if (!to_host && !from.is_cpu()) {
    return; // between devices nobody waits
  }
  const auto& host = to_host ? self : from;
  if (non_blocking) {
    const auto& data = host.storage().data_ptr();
    record_pinned(data.get(), data.get_context(), stream);
  } else {
    stream.synchronize();
  }
}

Tensor& copy_(Tensor& self, const Tensor& from, bool non_blocking) {
  if (self.is_same(from) || self.numel() == 0) {
    if (self.numel() == from.numel()) {
      return self;
    }
  }
  if (is_plain(self, from)) {
    copy_bytes(self, from, non_blocking);
    return self;
  }
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  static Call call(op, DispatchKey::CPU);
  torch::jit::Stack stack = {self, from, non_blocking};
  call(op, kKeys, &stack);
  return self;
}

void record_stream(Tensor& self, c10::Stream stream) {
  c10::stand::StandCachingAllocator::recordStream(
      self.storage().data_ptr(), c10::stand::StandStream(stream));
}

} // namespace

void register_own(torch::Library& aten) {
  aten.impl("empty.memory_format", TORCH_FN(empty));
  aten.impl("empty_strided", TORCH_FN(empty_strided));
  aten.impl("copy_", TORCH_FN(copy_));
  aten.impl("record_stream", TORCH_FN(record_stream));
  aten.impl("native_dropout", TORCH_FN(torch_cuda::composites::native_dropout));
}

} // namespace torch_stand_in
