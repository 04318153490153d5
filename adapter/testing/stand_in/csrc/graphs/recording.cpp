// The recording of a process.
#include "adapter/testing/stand_in/csrc/graphs/recording.h"

#include <atomic>
#include <memory>
#include <utility>

#include "c10/stand/StandStream.h"
#include "stand_recorder.h"

namespace torch_stand_in {
namespace {

std::atomic<Recording*> the_active{nullptr};

int& depth() {
  static thread_local int depth = 0;
  return depth;
}

void record(void* data, const standRecord* work) {
  const std::shared_ptr<void> owned(work->work, work->destroy);
  if (depth() != 0) {
    return; // a part of what is recorded as a whole
  }
  static_cast<Recording*>(data)->add(
      [owned, again = work->again, device = work->device] {
        C10_STAND_CHECK(again(
            owned.get(),
            c10::stand::getCurrentStandStream(
                static_cast<c10::DeviceIndex>(device))));
      });
}

} // namespace

Recording* Recording::active() {
  return depth() == 0 ? the_active.load() : nullptr;
}

void Recording::begin() {
  Recording* none = nullptr;
  TORCH_CHECK(
      the_active.compare_exchange_strong(none, this),
      "stand-in error: another graph is being captured in this process");
  C10_STAND_CHECK(standSetRecorder(&record, this));
}

void Recording::end() {
  C10_STAND_CHECK(standSetRecorder(nullptr, nullptr));
  the_active = nullptr;
}

void Recording::add(Step step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  steps_.push_back(std::move(step));
}

void Recording::keep(const at::Tensor& tensor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_.push_back(tensor);
}

void Recording::replay() const {
  for (const auto& step : steps_) {
    step();
  }
}

void Recording::clear() {
  steps_.clear();
  kept_.clear();
}

Recording::Whole::Whole() {
  ++depth();
}

Recording::Whole::~Whole() {
  --depth();
}

} // namespace torch_stand_in
