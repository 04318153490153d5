// Pairs of storages.
#include "adapter/testing/stand_in/csrc/operators/storages.h"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <optional>
#include <utility>

#include "adapter/testing/stand_in/csrc/device/type.h"
#include "c10/stand/StandCachingAllocator.h"
#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandGuard.h"

namespace torch_stand_in {
namespace {

using c10::Storage;
using c10::StorageImpl;
using StoragePtr = c10::intrusive_ptr<StorageImpl>;

bool host_sees(const void* address) {
  standPointerAttributes attributes;
  C10_STAND_CHECK(standPointerGetAttributes(&attributes, address));
  return attributes.hostPointer != nullptr;
}

void wait(c10::Device device) {
  c10::stand::getCurrentStandStream(device.index()).synchronize();
}

void copy(void* to, const void* from, size_t bytes, c10::Device device) {
  const auto stream = c10::stand::getCurrentStandStream(device.index());
  C10_STAND_CHECK(
      standMemcpyAsync(to, from, bytes, standMemcpyDefault, stream));
  stream.synchronize();
}

void release(void* storage) {
  c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(storage));
}

// The memory itself, which the storage of the stand-in owns.
c10::DataPtr same_memory(const Storage& near, bool written) {
  void* data = written ? near.mutable_data() : const_cast<void*>(near.data());
  return {
      data,
      StoragePtr::reclaim_copy(near.unsafeGetStorageImpl()).release(),
      &release,
      c10::Device(c10::kCPU)};
}

c10::DataPtr new_memory(const StorageImpl& far, c10::Device home) {
  const c10::stand::StandGuard guard(home);
  auto data = c10::stand::StandCachingAllocator::get()->allocate(far.nbytes());
  if (far.nbytes() == 0 || !far.data()) {
    return data;
  }
  if (host_sees(data.get())) {
    wait(home); // the block can be one that the stream still uses
    std::memcpy(data.get(), far.data(), far.nbytes());
  } else {
    copy(data.get(), far.data(), far.nbytes(), home);
  }
  return data;
}

} // namespace

c10::Device CallStorages::home() const {
  return home_ ? *home_ : c10::Device(kStandIn, c10::stand::current_device());
}

Storage CallStorages::far(
    const Storage& near,
    bool written,
    const c10::TensorImpl* /*reached_by*/) {
  if (near.device_type() != kStandIn) {
    return near;
  }
  for (auto& pair : pairs_) {
    if (pair.near.unsafeGetStorageImpl() == near.unsafeGetStorageImpl()) {
      pair.written = pair.written || written;
      return Storage(pair.far);
    }
  }
  const auto device = near.device();
  home_ = home_ ? home_ : device;
  const size_t bytes = near.nbytes();
  const bool copied = bytes != 0 && near.data() && !host_sees(near.data());
  if (!copied) {
    wait(device);
  }
  auto data = copied ? c10::GetCPUAllocator()->allocate(bytes)
                     : same_memory(near, written);
  if (copied) {
    copy(data.get(), near.data(), bytes, device);
  }
  auto far = c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      bytes,
      std::move(data),
      c10::GetCPUAllocator(),
      near.resizable());
  pairs_.push_back({near, far, far->data(), written, copied});
  return Storage(std::move(far));
}

Storage CallStorages::near(const Storage& far) {
  auto* impl = far.unsafeGetStorageImpl();
  for (const auto& pair : pairs_) {
    if (pair.far.get() == impl) {
      return pair.near;
    }
  }
  if (far.device_type() != c10::kCPU) {
    return far;
  }
  Storage near(c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      impl->nbytes(),
      new_memory(*impl, home()),
      c10::stand::StandCachingAllocator::get(),
      impl->resizable()));
  auto kept = StoragePtr::reclaim_copy(impl);
  pairs_.push_back({near, kept, kept->data(), false, false});
  return near;
}

void CallStorages::take_over() {
  for (const auto& pair : pairs_) {
    auto& near = *pair.near.unsafeGetStorageImpl();
    if (pair.far->data() != pair.data || pair.far->nbytes() != near.nbytes()) {
      near.set_data_ptr_noswap(new_memory(*pair.far, near.device()));
      near.set_nbytes(pair.far->nbytes());
    } else if (pair.copied && pair.written) {
      copy(near.mutable_data(), pair.far->data(), near.nbytes(), near.device());
    }
  }
}

c10::Device CallStorages::far(c10::Device near) const {
  return near.type() == kStandIn ? c10::Device(c10::kCPU) : near;
}

c10::Device CallStorages::near(c10::Device far) const {
  return far.type() == c10::kCPU ? home() : far;
}

} // namespace torch_stand_in
