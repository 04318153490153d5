// Devices, streams and events of pu: CUDA's.
#include "pu/csrc/device/names.h"
#include "pu/csrc/device/storage.h"
#include "router/aliasing/torch_versions.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torch_pu {
namespace {

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override {
    return kPu;
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    return to_pu(cuda().exchangeDevice(to_cuda(device)));
  }
  c10::Device getDevice() const override {
    return to_pu(cuda().getDevice());
  }
  void setDevice(c10::Device device) const override {
    cuda().setDevice(to_cuda(device));
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    cuda().uncheckedSetDevice(to_cuda(device));
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return cuda().deviceCount();
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    cuda().synchronizeDevice(device);
  }

  c10::Stream getStream(c10::Device device) const noexcept override {
    return to_pu(cuda().getStream(to_cuda(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return to_pu(cuda().getDefaultStream(to_cuda(device)));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority)
      const override {
    return to_pu(
        cuda().getStreamFromGlobalPool(to_cuda(device), high_priority));
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return to_pu(cuda().getNewStream(to_cuda(device), priority));
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return to_pu(cuda().exchangeStream(to_cuda(stream)));
  }
  bool queryStream(const c10::Stream& stream) const override {
    return cuda().queryStream(to_cuda(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    cuda().synchronizeStream(to_cuda(stream));
  }
#if TORCH_CUDA_TORCH_SINCE(12)
  bool isStreamCapturing(const c10::Stream& stream) const override {
    return cuda().isStreamCapturing(to_cuda(stream));
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return cuda().getStreamNativeHandle(to_cuda(stream));
  }
  c10::DeviceCapability getDeviceCapability(c10::Device device) const override {
    return cuda().getDeviceCapability(to_cuda(device));
  }
#endif
  void recordDataPtrOnStream(
      const c10::DataPtr& data,
      const c10::Stream& stream) const override {
    // The allocator knows its own memory only.
    const auto* storage = cuda_storage_of(data);
    cuda().recordDataPtrOnStream(
        storage ? storage->data_ptr() : data, to_cuda(stream));
  }

  void destroyEvent(void* event, const c10::DeviceIndex device)
      const noexcept override {
    cuda().destroyEvent(event, device);
  }
  void record(
      void** event,
      const c10::Stream& stream,
      const c10::DeviceIndex device,
      const c10::EventFlag flag) const override {
    cuda().record(event, to_cuda(stream), device, flag);
  }
  void block(void* event, const c10::Stream& stream) const override {
    cuda().block(event, to_cuda(stream));
  }
  bool queryEvent(void* event) const override {
    return cuda().queryEvent(event);
  }
  void synchronizeEvent(void* event) const override {
    cuda().synchronizeEvent(event);
  }
  double elapsedTime(void* first, void* second, const c10::DeviceIndex device)
      const override {
    return cuda().elapsedTime(first, second, device);
  }

 private:
  static const c10::impl::DeviceGuardImplInterface& cuda() {
    return *c10::impl::getDeviceGuardImpl(kCuda);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

} // namespace
} // namespace torch_pu
