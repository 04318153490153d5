// Pairs, and what becomes of them.
#include "router/operators/tensors/host_storages.h"

#include "router/operators/tensors/device_memory.h"

#include <c10/core/impl/COW.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <utility>

namespace torch_cuda::operators {
namespace {

using c10::Storage;
using c10::StorageImpl;
using StoragePtr = c10::intrusive_ptr<StorageImpl>;

void release_storage(void* storage) {
  c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(storage));
}

// Data that share() made: the storage that they belong to.
StorageImpl* owner(const StorageImpl& host) {
  const auto& data = host.data_ptr();
  return data.get_deleter() == &release_storage
      ? static_cast<StorageImpl*>(data.get_context())
      : nullptr;
}

} // namespace

c10::DataPtr HostStorages::share(StorageImpl& storage, void* data) {
  return {
      data,
      StoragePtr::reclaim_copy(&storage).release(),
      &release_storage,
      c10::kCPU};
}

void HostStorages::relabel(StorageImpl& host, c10::DataPtr&& data) {
  host.set_data_ptr_noswap(std::move(data));
  host.set_allocator(c10::cuda::CUDACachingAllocator::get());
}

Storage HostStorages::far(
    const Storage& near,
    bool written,
    const c10::TensorImpl* reached_by) {
  auto* device = near.unsafeGetStorageImpl();
  if (C10_UNLIKELY(device->device_type() != c10::kCUDA)) {
    return near;
  }
  for (auto& pair : pairs_) {
    if (pair.device.get() == device) {
      if (written) {
        make_writable(pair);
      }
      reach(pair, written, reached_by);
      return Storage(pair.host);
    }
  }
  auto host = c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      device->nbytes(),
      host_data(*device, written),
      host_allocator(),
      device->resizable());
  pairs_.push_back(
      {StoragePtr::reclaim_copy(device), host, host->data(), written});
  reach(pairs_.back(), written, reached_by);
  return Storage(std::move(host));
}

Storage HostStorages::near(const Storage& far) {
  auto* host = far.unsafeGetStorageImpl();
  for (const auto& pair : pairs_) {
    if (pair.host.get() == host) {
      return Storage(pair.device);
    }
  }
  if (host->device_type() == c10::kCUDA) {
    return far;
  }
  // The alias of another call, whose results are used in this one.
  if (auto* device = owner(*host)) {
    return Storage(StoragePtr::reclaim_copy(device));
  }
  if (C10_UNLIKELY(host->data() == nullptr && host->nbytes() > 0)) {
    relabel(*host, {nullptr, device_}); // zeros that have no memory
    return far;
  }
  auto storage = device_storage(far);
  if (storage.unsafeGetStorageImpl() != host) {
    // Other results may be views of the same.
    pairs_.push_back(
        {StoragePtr::reclaim_copy(storage.unsafeGetStorageImpl()),
         StoragePtr::reclaim_copy(host),
         host->data(),
         /*written=*/true});
  }
  return storage;
}

// What was read only, up to now, may be memory that others read, too.
void HostStorages::make_writable(Pair& pair) {
  if (pair.written) {
    return;
  }
  pair.written = true;
  if (c10::impl::cow::is_cow_data_ptr(pair.device->data_ptr())) {
    pair.host->set_data_ptr_noswap(host_data(*pair.device, /*written=*/true));
    pair.given = pair.host->data();
  }
}

void HostStorages::take_over() {
  for (const auto& pair : pairs_) {
    auto& host = *pair.host;
    auto& device = *pair.device;
    if (C10_LIKELY(
            host.nbytes() == device.nbytes() && host.data() == pair.given)) {
      take_over_written(pair);
      continue;
    }
    if (owner(host) == nullptr) {
      device.set_data_ptr_noswap(take_over_data(pair));
    }
    device.set_nbytes(host.nbytes());
  }
}

c10::Device HostStorages::far(c10::Device /*near*/) const {
  return c10::kCPU;
}

c10::Device HostStorages::near(c10::Device /*far*/) const {
  return device_;
}

} // namespace torch_cuda::operators
