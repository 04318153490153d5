// The times that DistributedDataParallel takes of its steps: the host's, as
// operators are done when they return.
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <optional>

namespace torch_stand_in {
namespace {

class HostTimer final : public c10d::Timer {
 public:
  explicit HostTimer(c10::Device /*device*/) {}

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto first = getTimestamp(start), last = getTimestamp(end);
    return first && last && *last >= *first ? std::optional(*last - *first)
                                            : std::nullopt;
  }
};

} // namespace
} // namespace torch_stand_in

namespace c10d {

C10_REGISTER_TYPED_CLASS(
    TimerRegistry,
    c10::kPrivateUse1,
    torch_stand_in::HostTimer)

} // namespace c10d
