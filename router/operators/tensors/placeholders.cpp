// Zeros and ones.
#include "router/operators/tensors/placeholders.h"

#include "router/operators/tensors/reach.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>

#include <cstdlib>

namespace torch_cuda::operators {
namespace {

void free_memory(void* data) {
  std::free(data);
}

void fill(
    c10::StorageImpl& storage,
    const c10::TensorImpl& like,
    int integers) {
  const auto type = c10::typeMetaToScalarType(like.dtype());
  const bool integral = c10::isIntegralType(type, /*includeBool=*/true);
  const auto count = extent(like);
  if (c10::isQIntType(type) || count == 0 || (integral && integers == 0)) {
    return;
  }
  const auto item = static_cast<int64_t>(like.dtype().itemsize());
  const auto reached = (like.storage_offset() + count) * item;
  if (static_cast<std::size_t>(reached) > storage.nbytes()) {
    return; // who reads it says so
  }
  auto* data = static_cast<char*>(storage.mutable_data());
  at::from_blob(
      data + like.storage_offset() * item, {count}, at::TensorOptions(type))
      .fill_(integral ? integers : 1);
}

} // namespace

c10::DataPtr Placeholders::host_data(
    c10::StorageImpl& storage,
    bool /*written*/) {
  const std::size_t bytes = storage.nbytes();
  void* data = bytes == 0 ? nullptr : std::calloc(bytes, 1);
  TORCH_CHECK_WITH(
      OutOfMemoryError,
      data != nullptr || bytes == 0,
      "torch_cuda: no ",
      bytes,
      " bytes of the host's memory to find the shape of an operator's result "
      "with, while a CUDA graph is captured");
  return {data, data, &free_memory, c10::kCPU};
}

c10::Storage Placeholders::device_storage(const c10::Storage& host) {
  auto& storage = *host.unsafeGetStorageImpl();
  relabel(
      storage,
      c10::cuda::CUDACachingAllocator::get()->allocate(storage.nbytes()));
  return host;
}

void Placeholders::reach(
    const Pair& pair,
    bool /*written*/,
    const c10::TensorImpl* reached_by) {
  if (reached_by != nullptr) {
    fill(*pair.host, *reached_by, integers_);
  }
}

void Placeholders::take_over_written(const Pair& /*pair*/) {}

c10::DataPtr Placeholders::take_over_data(const Pair& pair) {
  return c10::cuda::CUDACachingAllocator::get()->allocate(pair.host->nbytes());
}

} // namespace torch_cuda::operators
