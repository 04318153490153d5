// What PyTorch asks an accelerator: CUDA answers.
#include "pu/csrc/device/generator.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "router/aliasing/torch_versions.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <utility>

namespace torch_pu {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  void init() const override {
    at::globalContext().lazyInitDevice(kCuda);
  }
#if TORCH_CUDA_TORCH_SINCE(9)
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return guard().deviceCount() > 0;
  }
#endif
  bool hasPrimaryContext(c10::DeviceIndex device) const override {
    return cuda().hasPrimaryContext(device);
  }
  const at::Generator& getDefaultGenerator(
      c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return new_generator(device);
  }
  c10::Device getDeviceFromPtr(void* data) const override {
    return to_pu(cuda().getDeviceFromPtr(data));
  }
  bool isPinnedPtr(const void* data) const override {
    return cuda().isPinnedPtr(data);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return cuda().getPinnedMemoryAllocator();
  }
  c10::DeviceIndex deviceCount() const override {
    return guard().deviceCount();
  }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    guard().setDevice({kCuda, device});
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return guard().getDevice().index();
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return cuda().exchangeDevice(device);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return cuda().maybeExchangeDevice(device);
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes)
      const override {
    auto cuda = cuda_storage(storage);
    auto& impl = *cuda.unsafeGetStorageImpl();
    // As CUDA has it: the new memory holds what fits of the old.
    auto data = impl.allocator()->allocate(bytes);
    if (const size_t kept = std::min(bytes, impl.nbytes())) {
      const auto bytes_of = [&](const void* memory) {
        return at::from_blob(
            const_cast<void*>(memory),
            {static_cast<int64_t>(kept)},
            at::TensorOptions(impl.device()).dtype(at::kByte));
      };
      bytes_of(data.get()).copy_(bytes_of(impl.data()), true);
    }
    impl.set_data_ptr_noswap(std::move(data));
    impl.set_nbytes(bytes);
    refresh(*storage.unsafeGetStorageImpl(), impl);
  }

 private:
  static const at::CUDAHooksInterface& cuda() {
    return at::detail::getCUDAHooks();
  }
  static const c10::impl::DeviceGuardImplInterface& guard() {
    return *c10::impl::getDeviceGuardImpl(kCuda);
  }
};

[[maybe_unused]] const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

} // namespace
} // namespace torch_pu
