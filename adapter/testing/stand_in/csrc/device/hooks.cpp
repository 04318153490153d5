// What PyTorch asks an accelerator.
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Storage.h>

#include <algorithm>
#include <utility>

#include "adapter/testing/stand_in/csrc/device/generator.h"
#include "adapter/testing/stand_in/csrc/device/pinned.h"
#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandGuard.h"
#include "router/aliasing/torch_versions.h"

namespace torch_stand_in {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  void init() const override {
    (void)c10::stand::device_count();
  }
#if TORCH_CUDA_TORCH_SINCE(9)
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return c10::stand::device_count() > 0;
  }
#endif
  bool hasPrimaryContext(c10::DeviceIndex device) const override {
    return device >= 0 && device < c10::stand::device_count();
  }
  const at::Generator& getDefaultGenerator(
      c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return new_generator(device);
  }
  c10::Device getDeviceFromPtr(void* data) const override {
    standPointerAttributes attributes;
    C10_STAND_CHECK(standPointerGetAttributes(&attributes, data));
    TORCH_CHECK(
        attributes.type == standMemoryTypeDevice,
        "The pointer is none of the stand-in's memory.");
    return {
        c10::DeviceType::PrivateUse1,
        static_cast<c10::DeviceIndex>(attributes.device)};
  }
  bool isPinnedPtr(const void* data) const override {
    return is_pinned(data);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return pinned_allocator();
  }
  c10::DeviceIndex deviceCount() const override {
    return c10::stand::device_count();
  }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    c10::stand::set_device(device);
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return c10::stand::current_device();
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return c10::stand::exchange_device(device);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return c10::stand::exchange_device(device);
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes)
      const override {
    auto& impl = *storage.unsafeGetStorageImpl();
    const c10::stand::StandGuard guard(impl.device());
    auto data = impl.allocator()->allocate(bytes);
    if (const size_t kept = std::min(bytes, impl.nbytes())) {
      C10_STAND_CHECK(standMemcpyAsync(
          data.get(),
          impl.data(),
          kept,
          standMemcpyDefault,
          c10::stand::getCurrentStandStream()));
    }
    impl.set_data_ptr_noswap(std::move(data));
    impl.set_nbytes(bytes);
  }
};

[[maybe_unused]] const bool hooks_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

} // namespace
} // namespace torch_stand_in
