// Pairs of storages.
#include "pu/csrc/device/storage.h"

#include "pu/csrc/device/names.h"
#include "router/aliasing/torch_versions.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/util/intrusive_ptr.h>
#if TORCH_CUDA_TORCH_SINCE(9)
#include <c10/core/CachingDeviceAllocator.h>
#endif

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace torch_pu {
namespace {

using c10::Storage;
using c10::StorageImpl;
using StoragePtr = c10::intrusive_ptr<StorageImpl>;

void release(void* storage) {
  c10::raw::intrusive_ptr::decref(static_cast<StorageImpl*>(storage));
}

// What can be written through it is the kernels' business, which have the CUDA
// storage: a copy-on-write storage must not be copied here.
c10::DataPtr data_on(StoragePtr cuda) {
  void* data = const_cast<void*>(cuda->data());
  const auto device = to_pu(cuda->device());
  return {data, cuda.release(), &release, device};
}

Storage stand_on(StoragePtr cuda) {
  const auto bytes = cuda->nbytes();
  const bool resizable = cuda->resizable();
  return Storage(c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      bytes,
      data_on(std::move(cuda)),
      allocator(),
      resizable));
}

c10::Allocator* cuda_allocator() {
  at::globalContext().lazyInitDevice(kCuda);
  return at::detail::getCUDAHooks().getCUDADeviceAllocator();
}

#if TORCH_CUDA_TORCH_SINCE(9)
// What torch.accelerator's functions about memory ask.
class AskedAllocator : public c10::DeviceAllocator {
 public:
  bool initialized() override {
    return cuda().initialized();
  }
  void emptyCache(c10::MempoolId_t pool) override {
    cuda().emptyCache(pool);
  }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    const auto* storage = cuda_storage_of(data);
    cuda().recordStream(storage ? storage->data_ptr() : data, to_cuda(stream));
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(
      c10::DeviceIndex device) override {
    return cuda().getDeviceStats(device);
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    cuda().resetAccumulatedStats(device);
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    cuda().resetPeakStats(device);
  }
#if TORCH_CUDA_TORCH_SINCE(12)
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    return cuda().getMemoryInfo(device);
  }
#endif

 private:
  static c10::DeviceAllocator& cuda() {
    return *c10::getDeviceAllocator(kCuda);
  }
};
#else
using AskedAllocator = c10::Allocator;
#endif

class PuAllocator final : public AskedAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* cuda = cuda_allocator();
    return data_on(c10::make_intrusive<StorageImpl>(
        StorageImpl::use_byte_size_t(),
        bytes,
        cuda->allocate(bytes),
        cuda,
        /*resizable=*/true));
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    cuda_allocator()->copy_data(to, from, bytes);
  }
};

PuAllocator the_allocator;
REGISTER_ALLOCATOR(kPu, &the_allocator);

// CUDA storages that programs have in their hands, and what stands on them.
class HandedOut {
 public:
  static HandedOut& instance() {
    static auto* table = new HandedOut;
    return *table;
  }

  Storage find_or_stand_on(const Storage& cuda) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& entry = of(cuda.unsafeGetStorageImpl());
    if (auto pu = entry.lock()) {
      return Storage(std::move(pu));
    }
    auto pu = stand_on(StoragePtr::reclaim_copy(cuda.unsafeGetStorageImpl()));
    entry = weak(pu);
    return pu;
  }

  void remember(const Storage& pu, const Storage& cuda) {
    const std::lock_guard<std::mutex> lock(mutex_);
    of(cuda.unsafeGetStorageImpl()) = weak(pu);
  }

 private:
  using Weak = c10::weak_intrusive_ptr<StorageImpl>;

  static Weak weak(const Storage& storage) {
    return Weak(StoragePtr::reclaim_copy(storage.unsafeGetStorageImpl()));
  }

  // A storage of pu keeps its CUDA storage alive. So an entry whose address was
  // given to another storage has expired.
  Weak& of(StorageImpl* cuda) {
    if (entries_.size() >= limit_) {
      for (auto entry = entries_.begin(); entry != entries_.end();) {
        entry = entry->second.expired() ? entries_.erase(entry) : ++entry;
      }
      limit_ = std::max<size_t>(kFirstLimit, 2 * entries_.size());
    }
    return entries_.try_emplace(cuda, Weak(StoragePtr())).first->second;
  }

  static constexpr size_t kFirstLimit = 256;
  std::mutex mutex_;
  std::unordered_map<StorageImpl*, Weak> entries_;
  size_t limit_ = kFirstLimit;
};

// Memory that came from elsewhere becomes a CUDA storage's.
Storage adopt(StorageImpl& pu) {
  static auto* mutex = new std::mutex;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (auto* cuda = cuda_storage_of(pu.data_ptr())) {
    return Storage(StoragePtr::reclaim_copy(cuda));
  }
  auto data = std::move(pu._mutable_data_ptr_no_checks());
  data.unsafe_set_device(to_cuda(pu.device()));
  auto cuda = c10::make_intrusive<StorageImpl>(
      StorageImpl::use_byte_size_t(),
      pu.nbytes(),
      std::move(data),
      cuda_allocator(),
      pu.resizable());
  pu.set_data_ptr_noswap(data_on(cuda));
  return Storage(std::move(cuda));
}

} // namespace

c10::Allocator* allocator() {
  return &the_allocator;
}

StorageImpl* cuda_storage_of(const c10::DataPtr& data) {
  return data.get_deleter() == &release
      ? static_cast<StorageImpl*>(data.get_context())
      : nullptr;
}

void refresh(StorageImpl& pu, StorageImpl& cuda) {
  if (C10_UNLIKELY(pu.data() != cuda.data())) {
    pu.set_data_ptr_noswap(data_on(StoragePtr::reclaim_copy(&cuda)));
  }
  if (C10_UNLIKELY(pu.nbytes() != cuda.nbytes())) {
    pu.set_nbytes(cuda.nbytes());
  }
}

Storage cuda_storage(const Storage& pu) {
  auto& impl = *pu.unsafeGetStorageImpl();
  auto* cuda = cuda_storage_of(impl.data_ptr());
  if (C10_UNLIKELY(!cuda)) {
    return adopt(impl);
  }
  refresh(impl, *cuda);
  return Storage(StoragePtr::reclaim_copy(cuda));
}

Storage pu_storage(const Storage& cuda) {
  return HandedOut::instance().find_or_stand_on(cuda);
}

void hand_out(const Storage& pu, const Storage& cuda) {
  HandedOut::instance().remember(pu, cuda);
}

Storage Pairs::far(
    const Storage& near,
    bool /*written*/,
    const c10::TensorImpl* /*reached_by*/) {
  if (near.device_type() != kPu) {
    return near;
  }
  for (const auto& pair : pairs_) {
    if (pair.pu.unsafeGetStorageImpl() == near.unsafeGetStorageImpl()) {
      return Storage(StoragePtr::reclaim_copy(pair.cuda));
    }
  }
  auto cuda = cuda_storage(near);
  pairs_.push_back({near, cuda.unsafeGetStorageImpl()});
  return cuda;
}

Storage Pairs::near(const Storage& far) {
  auto* cuda = far.unsafeGetStorageImpl();
  for (const auto& pair : pairs_) {
    if (pair.cuda == cuda) {
      return pair.pu;
    }
  }
  if (far.device_type() != kCuda) {
    return far;
  }
  // What stands on a storage has a reference to it.
  auto pu = far.use_count() == 1 ? stand_on(StoragePtr::reclaim_copy(cuda))
                                 : pu_storage(far);
  pairs_.push_back({pu, cuda});
  return pu;
}

void Pairs::take_over() {
  for (const auto& pair : pairs_) {
    refresh(*pair.pu.unsafeGetStorageImpl(), *pair.cuda);
  }
}

c10::Device Pairs::far(c10::Device near) const {
  return to_cuda(near);
}

c10::Device Pairs::near(c10::Device far) const {
  return to_pu(far);
}

} // namespace torch_pu
