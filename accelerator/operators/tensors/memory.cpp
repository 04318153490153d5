// One memory, or copies.
#include "accelerator/operators/tensors/memory.h"

#include "accelerator/operators/dispatch/devices.h"
#include "accelerator/operators/tensors/device_memory.h"
#include "accelerator/operators/tensors/order.h"
#include "accelerator/operators/tensors/reach.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

namespace torch_cuda::operators {
namespace {

using c10::StorageImpl;

// A copy-on-write storage gets a copy of its own before it is written to.
void* data_of(StorageImpl& storage, bool written) {
  return written ? storage.mutable_data() : const_cast<void*>(storage.data());
}

} // namespace

Memory::Memory(c10::Device device)
    : HostStorages(device), seen_(host_sees(device.index())) {}

bool Memory::is_seen(const StorageImpl& storage) const {
  const auto device = storage.device();
  return C10_LIKELY(device == this->device()) ? seen_
                                              : host_sees(device.index());
}

c10::DataPtr Memory::host_data(StorageImpl& storage, bool written) {
  return is_seen(storage) ? share(storage, data_of(storage, written))
                          : allocate_on_host(storage.nbytes());
}

c10::DataPtr CapturedMemory::host_data(StorageImpl& storage, bool written) {
  return is_seen(storage) ? c10::DataPtr(data_of(storage, written), c10::kCPU)
                          : Memory::host_data(storage, written);
}

void Memory::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) {
    return;
  }
  const auto stream = c10::cuda::getCurrentCUDAStream(device().index());
  // What another thread captures is no business of this stream.
  const c10::cuda::CUDAStreamCaptureModeGuard relaxed(
      cudaStreamCaptureModeRelaxed);
  C10_CUDA_CHECK(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.stream()));
}

void Memory::wait_for_copies() {
  wait_for_current_stream(device().index());
}

void CapturedMemory::wait_for_copies() {}

void Memory::reach(
    const Pair& pair,
    bool written,
    const c10::TensorImpl* reached_by) {
  if (C10_LIKELY(is_seen(*pair.device))) {
    return;
  }
  Part part{pair.device.get(), 0, pair.device->nbytes()};
  // Nested tensors have geometries of their own.
  if (reached_by != nullptr && !reached_by->is_nested()) {
    const std::size_t item = reached_by->dtype().itemsize();
    const auto first = static_cast<std::size_t>(reached_by->storage_offset());
    const auto count = static_cast<std::size_t>(extent(*reached_by));
    part.end = std::min(part.end, (first + count) * item);
    part.begin = std::min(part.end, first * item);
  }
  if (written) {
    written_.push_back(part);
  }
  if (part.begin < part.end) {
    const auto* from = static_cast<const char*>(data_of(*pair.device, written));
    auto* to = static_cast<char*>(pair.host->mutable_data());
    copy(to + part.begin, from + part.begin, part.end - part.begin);
    wait_for_copies();
  }
}

c10::Storage Memory::device_storage(const c10::Storage& host) {
  auto& storage = *host.unsafeGetStorageImpl();
  const std::size_t bytes = storage.nbytes();
  if (C10_LIKELY(seen_)) {
    relabel(
        storage,
        on_device(std::move(storage.mutable_data_ptr()), bytes, device()));
    return host;
  }
  // The host goes on with its own: backward passes have results of forward.
  auto* allocator = c10::cuda::CUDACachingAllocator::get();
  auto data = allocator->allocate(bytes);
  copy(data.get(), storage.data(), bytes);
  return c10::Storage(c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      bytes,
      std::move(data),
      allocator,
      storage.resizable()));
}

void Memory::take_over_written(const Pair& pair) {
  for (const auto& part : written_) {
    if (part.storage == pair.device.get()) {
      copy(
          static_cast<char*>(pair.device->mutable_data()) + part.begin,
          static_cast<const char*>(pair.host->data()) + part.begin,
          part.end - part.begin);
    }
  }
}

// What no tensor reached is not in the host's copy. The kernel wrote behind the
// first element that it was given to write to.
c10::DataPtr Memory::take_over_data(const Pair& pair) {
  auto& host = *pair.host;
  if (is_seen(*pair.device)) {
    return on_device(
        std::move(host.mutable_data_ptr()), host.nbytes(), device());
  }
  auto data = c10::cuda::CUDACachingAllocator::get()->allocate(host.nbytes());
  const std::size_t before = std::min(pair.device->nbytes(), host.nbytes());
  copy(data.get(), pair.device->data(), before);
  std::size_t begin = host.nbytes();
  for (const auto& part : written_) {
    if (part.storage == pair.device.get()) {
      begin = std::min(begin, part.begin);
    }
  }
  copy(
      static_cast<char*>(data.get()) + begin,
      static_cast<const char*>(host.data()) + begin,
      host.nbytes() - begin);
  return data;
}

} // namespace torch_cuda::operators
