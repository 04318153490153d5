// What PyTorch asks every device: the current device and stream, events.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "ATen/stand/StandContext.h"
#include "adapter/testing/stand_in/csrc/device/type.h"

namespace torch_stand_in {
namespace {

using c10::stand::StandStream;

standEvent_t& event_of(void*& event) {
  return reinterpret_cast<standEvent_t&>(event);
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override {
    return kStandIn;
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {kStandIn, c10::stand::exchange_device(device.index())};
  }
  c10::Device getDevice() const override {
    return {kStandIn, c10::stand::current_device()};
  }
  void setDevice(c10::Device device) const override {
    c10::stand::set_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    (void)standSetDevice(device.index());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return c10::stand::device_count();
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    const auto before = c10::stand::exchange_device(device);
    const auto error = standDeviceSynchronize();
    uncheckedSetDevice({kStandIn, before});
    C10_STAND_CHECK(error);
  }

  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::stand::getCurrentStandStream(device.index());
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::stand::getDefaultStandStream(device.index());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority)
      const override {
    return c10::stand::getStreamFromPool(high_priority, device.index());
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return c10::stand::getStreamFromPool(priority < 0, device.index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    const auto before =
        c10::stand::getCurrentStandStream(stream.device_index());
    c10::stand::setCurrentStandStream(StandStream(stream));
    return before;
  }
  bool queryStream(const c10::Stream& stream) const override {
    return StandStream(stream).query();
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    StandStream(stream).synchronize();
  }
  void recordDataPtrOnStream(
      const c10::DataPtr& data,
      const c10::Stream& stream) const override {
    c10::stand::StandCachingAllocator::recordStream(data, StandStream(stream));
  }

  void destroyEvent(void* event, const c10::DeviceIndex /*device*/)
      const noexcept override {
    if (event) {
      (void)standEventDestroy(event_of(event));
    }
  }
  void record(
      void** event,
      const c10::Stream& stream,
      const c10::DeviceIndex device,
      const c10::EventFlag flag) const override {
    TORCH_CHECK(
        device == -1 || device == stream.device_index(),
        "Event device index ",
        static_cast<int>(device),
        " does not match recording stream's device index ",
        static_cast<int>(stream.device_index()),
        ".");
    if (!*event) {
      const auto before = c10::stand::exchange_device(stream.device_index());
      const auto error = standEventCreateWithFlags(
          &event_of(*event),
          flag == c10::EventFlag::BACKEND_DEFAULT ? standEventDefault
                                                  : standEventDisableTiming);
      uncheckedSetDevice({kStandIn, before});
      C10_STAND_CHECK(error);
    }
    C10_STAND_CHECK(standEventRecord(event_of(*event), StandStream(stream)));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) {
      C10_STAND_CHECK(
          standStreamWaitEvent(StandStream(stream), event_of(event), 0));
    }
  }
  bool queryEvent(void* event) const override {
    if (!event) {
      return true;
    }
    const auto error = standEventQuery(event_of(event));
    if (error == standErrorNotReady) {
      (void)standGetLastError();
      return false;
    }
    C10_STAND_CHECK(error);
    return true;
  }
  void synchronizeEvent(void* event) const override {
    if (event) {
      C10_STAND_CHECK(standEventSynchronize(event_of(event)));
    }
  }
  double elapsedTime(
      void* first,
      void* second,
      const c10::DeviceIndex /*device*/) const override {
    TORCH_CHECK(
        first && second,
        "Both events must be recorded before calculating elapsed time.");
    float milliseconds = 0;
    C10_STAND_CHECK(standEventElapsedTime(
        &milliseconds, event_of(first), event_of(second)));
    return milliseconds;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

} // namespace
} // namespace torch_stand_in
