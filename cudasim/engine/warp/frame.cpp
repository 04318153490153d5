#include "cudasim/engine/warp/frame.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "cudasim/engine/code/watched_registers.h"

namespace cudasim::engine {

FramePool::~FramePool() {
  for (const auto& frame : all_) {
    allow(frame->registers, frame->capacity);
    ::operator delete(frame->registers, std::align_val_t{64});
  }
}

Frame* FramePool::take(
    const Code& code,
    Frame* parent,
    std::uint64_t local_frame) {
  Frame* frame = nullptr;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (free_[i]->capacity >= code.frame_bytes) {
      frame = free_[i];
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  if (frame == nullptr) {
    all_.push_back(std::make_unique<Frame>());
    frame = all_.back().get();
    frame->capacity = std::max<std::size_t>(code.frame_bytes, 4096);
    frame->registers = static_cast<std::byte*>(
        ::operator new(frame->capacity, std::align_val_t{64}));
    std::memset(frame->registers, 0, frame->capacity);
  }
  if (kWatchRegisters) {
    forbid(frame->registers, frame->capacity);
    for (const auto& [slot, bytes] : code.places) {
      allow(frame->registers + slot, bytes);
    }
  }
  frame->code = &code;
  frame->parent = parent;
  frame->local_frame = local_frame;
  frame->call = nullptr;
  return frame;
}

void FramePool::give_back(Frame* frame) {
  free_.push_back(frame);
}

void FramePool::clear() {
  free_.clear();
  for (const auto& frame : all_) {
    free_.push_back(frame.get());
  }
}

} // namespace cudasim::engine
