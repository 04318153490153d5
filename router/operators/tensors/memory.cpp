// One memory, or copies.
#include "router/operators/tensors/memory.h"

#include "router/operators/dispatch/devices.h"
#include "router/operators/tensors/device_memory.h"
#include "router/operators/tensors/order.h"
#include "router/operators/tensors/reach.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace torch_cuda::operators {
namespace {

using c10::StorageImpl;

// A copy-on-write storage gets a copy of its own before it is written to.
void* data_of(StorageImpl& storage, bool written) {
  return written ? storage.mutable_data() : const_cast<void*>(storage.data());
}

// Zeros that have no memory have none on the host either.
bool has_memory(const StorageImpl& storage) {
  return storage.data() != nullptr || storage.nbytes() == 0;
}

} // namespace

Memory::Memory(c10::Device device, Writes writes)
    : HostStorages(device), seen_(host_sees(device.index())), writes_(writes) {}

bool Memory::is_seen(const StorageImpl& storage) const {
  const auto device = storage.device();
  return C10_LIKELY(device == this->device()) ? seen_
                                              : host_sees(device.index());
}

c10::DataPtr Memory::host_data(StorageImpl& storage, bool written) {
  return is_seen(storage) || !has_memory(storage)
      ? share(storage, data_of(storage, written))
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

void Memory::copy(void* to, const void* from, const Rows& rows) const {
  const auto stream = c10::cuda::getCurrentCUDAStream(device().index());
  const c10::cuda::CUDAStreamCaptureModeGuard relaxed(
      cudaStreamCaptureModeRelaxed);
  auto* target = static_cast<char*>(to) + rows.begin;
  const auto* source = static_cast<const char*>(from) + rows.begin;
  C10_CUDA_CHECK(
      rows.count == 1
          ? cudaMemcpyAsync(
                target, source, rows.width, cudaMemcpyDefault, stream.stream())
          : cudaMemcpy2DAsync(
                target,
                rows.pitch,
                source,
                rows.pitch,
                rows.width,
                rows.count,
                cudaMemcpyDefault,
                stream.stream()));
}

char* Memory::before(const StorageImpl& storage) const {
  for (const auto& kept : before_) {
    if (kept.storage == &storage) {
      return static_cast<char*>(kept.data.get());
    }
  }
  return nullptr;
}

void Memory::wait_for_copies() {
  wait_for_current_stream(device().index());
}

void CapturedMemory::wait_for_copies() {}

void Memory::reach(
    const Pair& pair,
    bool written,
    const c10::TensorImpl* reached_by) {
  if (C10_LIKELY(is_seen(*pair.device)) || !has_memory(*pair.device)) {
    return;
  }
  const auto& storage = *pair.device;
  Part part{&storage, 0, storage.nbytes(), 1, {}, writes_ == Writes::All};
  // Nested tensors have geometries of their own.
  const bool has_geometry = reached_by != nullptr && !reached_by->is_nested();
  if (has_geometry) {
    part.item = reached_by->dtype().itemsize();
    const auto first = static_cast<std::size_t>(reached_by->storage_offset());
    const auto count = static_cast<std::size_t>(extent(*reached_by));
    part.end = std::min(part.end, (first + count) * part.item);
    part.begin = std::min(part.end, first * part.item);
  }
  if (part.begin < part.end) {
    const auto* from = static_cast<const char*>(data_of(*pair.device, written));
    auto* to = static_cast<char*>(pair.host->mutable_data());
    copy(to + part.begin, from + part.begin, part.end - part.begin);
    wait_for_copies();
    remember(part, to, written);
  }
  if (written) {
    if (writes_ == Writes::All) {
      part.rows = has_geometry
          ? rows_of(*reached_by, storage.nbytes())
          : std::vector<Rows>{
                {part.begin, part.end - part.begin, part.end - part.begin, 1}};
    }
    // An empty one, too: the kernel may make it larger.
    written_.push_back(std::move(part));
  }
}

void Memory::resized(const c10::Storage& near, const c10::TensorImpl& now) {
  const auto& storage = *near.unsafeGetStorageImpl();
  if (storage.device_type() == c10::kCUDA && !is_seen(storage) &&
      !now.is_nested()) {
    written_.push_back(
        {&storage,
         0,
         0,
         static_cast<std::size_t>(now.dtype().itemsize()),
         rows_of(now, now.unsafe_storage().nbytes()),
         /*all=*/true});
  }
}

// Keeps what a part holds before the kernel runs, where it will be compared.
void Memory::remember(const Part& part, const char* data, bool written) {
  char* before = this->before(*part.storage);
  if (written && writes_ == Writes::Some && before == nullptr) {
    before_.push_back({part.storage, allocate_on_host(part.storage->nbytes())});
    before = static_cast<char*>(before_.back().data.get());
  }
  if (before != nullptr) {
    std::memcpy(before + part.begin, data + part.begin, part.end - part.begin);
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
  const auto* host = static_cast<const char*>(pair.host->data());
  for (const auto& part : written_) {
    if (part.storage != pair.device.get()) {
      continue;
    }
    for (const auto& rows : written_rows(part, host)) {
      copy(pair.device->mutable_data(), host, rows);
    }
  }
}

std::vector<Rows> Memory::written_rows(const Part& part, const char* host)
    const {
  return part.all
      ? part.rows
      : changed_rows(
            before(*part.storage), host, part.begin, part.end, part.item);
}

// What no tensor reached is not in the host's copy.
c10::DataPtr Memory::take_over_data(const Pair& pair) {
  auto& host = *pair.host;
  if (is_seen(*pair.device)) {
    return on_device(
        std::move(host.mutable_data_ptr()), host.nbytes(), device());
  }
  auto data = c10::cuda::CUDACachingAllocator::get()->allocate(host.nbytes());
  const std::size_t before = std::min(pair.device->nbytes(), host.nbytes());
  copy(data.get(), pair.device->data(), before);
  const auto* written = static_cast<const char*>(host.data());
  for (const auto& part : written_) {
    if (part.storage != pair.device.get() || part.end > before) {
      continue;
    }
    for (const auto& rows : written_rows(part, written)) {
      copy(data.get(), written, rows);
    }
  }
  return data;
}

} // namespace torch_cuda::operators
