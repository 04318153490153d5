#include "cudasim/engine/warp/join.h"

namespace cudasim::engine {

Join* JoinPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Join>());
    free_.push_back(all_.back().get());
  }
  Join* join = free_.back();
  free_.pop_back();
  *join = Join{};
  return join;
}

void JoinPool::give_back(Join* join) {
  free_.push_back(join);
}

void JoinPool::clear() {
  free_.clear();
  for (const auto& join : all_) {
    free_.push_back(join.get());
  }
}

} // namespace cudasim::engine
