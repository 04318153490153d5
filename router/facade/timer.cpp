// The times that DistributedDataParallel takes of its steps on PrivateUse1, by
// the events of its streams.
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <map>
#include <optional>

namespace torch_cuda::facade {
namespace {

class EventTimer final : public c10d::Timer {
 public:
  explicit EventTimer(c10::Device device) : device_(device) {}

  void record(Event event) override {
    Timer::record(event); // the time of the host
    const c10::DeviceGuard guard(device_);
    const c10::impl::VirtualGuardImpl impl(c10::kPrivateUse1);
    events_
        .try_emplace(event, c10::kPrivateUse1, c10::EventFlag::BACKEND_DEFAULT)
        .first->second.record(impl.getStream(device_));
  }

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto first = events_.find(start);
    const auto last = events_.find(end);
    if (first == events_.end() || last == events_.end()) {
      return std::nullopt; // no backward pass, or one without communication
    }
    first->second.synchronize();
    last->second.synchronize();
    const double milliseconds = first->second.elapsedTime(last->second);
    if (milliseconds < 0) {
      return std::nullopt;
    }
    constexpr double nanoseconds = 1e6;
    return static_cast<int64_t>(milliseconds * nanoseconds);
  }

 private:
  c10::Device device_;
  std::map<Event, c10::Event> events_;
};

} // namespace
} // namespace torch_cuda::facade

namespace c10d {

C10_REGISTER_TYPED_CLASS(
    TimerRegistry,
    c10::kPrivateUse1,
    torch_cuda::facade::EventTimer)

} // namespace c10d
