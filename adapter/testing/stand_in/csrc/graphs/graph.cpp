// Capture and replay.
#include "adapter/testing/stand_in/csrc/graphs/graph.h"

#include "adapter/testing/stand_in/csrc/device/generator.h"
#include "adapter/testing/stand_in/csrc/device/held.h"
#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandGuard.h"

namespace torch_stand_in {
namespace {

void synchronize_all() {
  for (c10::DeviceIndex i = 0; i < c10::stand::device_count(); ++i) {
    const c10::stand::StandGuard guard(i);
    c10::stand::device_synchronize();
  }
}

} // namespace

Graph::~Graph() {
  if (capturing_) {
    recording_.end();
    end_hold();
  }
  reset();
}

void Graph::save() {
  synchronize_all();
  for (const auto& block : live_blocks()) {
    memory_.push_back({block.address, std::vector<char>(block.bytes)});
    C10_STAND_CHECK(standMemcpy(
        memory_.back().bytes.data(),
        block.address,
        block.bytes,
        standMemcpyDefault));
  }
  for (c10::DeviceIndex i = 0; i < c10::stand::device_count(); ++i) {
    generators_.push_back(default_generator(i).get_state());
  }
}

void Graph::restore() {
  synchronize_all();
  for (const auto& saved : memory_) {
    C10_STAND_CHECK(standMemcpy(
        saved.address,
        saved.bytes.data(),
        saved.bytes.size(),
        standMemcpyDefault));
  }
  for (size_t i = 0; i < generators_.size(); ++i) {
    auto generator = default_generator(static_cast<c10::DeviceIndex>(i));
    generator.set_state(generators_[i]);
  }
  memory_.clear();
  generators_.clear();
}

void Graph::capture_begin() {
  TORCH_CHECK(
      !captured_ && !capturing_,
      "This StandGraph instance already owns a captured graph. To capture a "
      "new graph, create a new instance.");
  TORCH_CHECK(
      !is_capturing(),
      "stand-in error: another graph is being captured in this process");
  save();
  hold_ = begin_hold();
  capturing_ = true;
  recording_.begin();
}

void Graph::capture_end() {
  TORCH_CHECK(capturing_, "stand-in error: this graph is not being captured");
  recording_.end();
  capturing_ = false;
  captured_ = true;
  end_hold();
  restore();
}

void Graph::replay() {
  TORCH_CHECK(
      captured_,
      "Called StandGraph::replay without a preceding successful capture.");
  const Recording::Whole whole;
  recording_.replay();
}

void Graph::reset() {
  recording_.clear();
  memory_.clear();
  generators_.clear();
  captured_ = false;
  if (hold_ != 0) {
    release_hold(hold_);
    hold_ = 0;
  }
}

bool is_capturing() {
  return Recording::active() != nullptr;
}

} // namespace torch_stand_in
