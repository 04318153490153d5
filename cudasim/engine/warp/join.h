// Where lanes of a warp that went different ways wait for each other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/warp/frame.h"

namespace cudasim::engine {

/// A place that lanes come to: the immediate post-dominator of a branch, or the
/// end of a function.
struct Join {
  Join* parent = nullptr;
  Frame* frame = nullptr;
  std::uint32_t pc = kNowhere; // kNowhere: the end of the frame's function
  Mask expected = 0;
  Mask arrived = 0;
  std::uint64_t since = 0; // instructions of the warp when the first arrived
};

/// The joins of a warp, kept to be used again.
class JoinPool {
 public:
  Join* take();
  void give_back(Join* join);
  /// No join is in use any more.
  void clear();

 private:
  std::vector<std::unique_ptr<Join>> all_;
  std::vector<Join*> free_;
};

} // namespace cudasim::engine
