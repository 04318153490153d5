// The registers of a function while lanes execute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// Registers and place of one activation of a function by some lanes.
struct Frame {
  const Code* code = nullptr;
  std::byte* registers = nullptr;
  std::size_t capacity = 0; // bytes of `registers`
  Frame* parent = nullptr;
  std::uint32_t return_pc = 0;
  const Control* call = nullptr;
  /// The function whose special registers are in `registers`; null: none's.
  const Code* specials_of = nullptr;
  /// First byte of the function's local variables within a lane's memory.
  std::uint64_t local_frame = 0;
  /// Where the memory of the caller's alloca began in each lane, which is freed
  /// down to it when the lane returns. Of kernels that have it.
  std::uint64_t stack_top[kLanes] = {};
};

/// Lets handlers read and write the registers of a frame.
inline void enter(Warp& warp, const Frame& frame) {
  warp.bases[0] = frame.registers;
  warp.bases[1] = frame.code->constants.get();
  warp.local_frame = frame.local_frame;
  warp.local_end = frame.local_frame + frame.code->local_bytes;
}

/// The frames of a warp, kept to be used again.
class FramePool {
 public:
  FramePool() = default;
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame for a function; its registers have any values.
  Frame* take(const Code& code, Frame* parent, std::uint64_t local_frame);
  void give_back(Frame* frame);
  /// No frame is in use any more.
  void clear();

 private:
  std::vector<std::unique_ptr<Frame>> all_;
  std::vector<Frame*> free_;
};

} // namespace cudasim::engine
