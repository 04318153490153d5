#include "cudasim/engine/check/findings.h"

#include <utility>

namespace cudasim::engine {

bool Findings::is_new(Kind kind, const Inst* first, const Inst* second) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return known_.emplace(kind, first, second).second;
}

void Findings::add(std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  texts_.push_back(std::move(text));
}

std::vector<std::string> Findings::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::move(texts_);
}

} // namespace cudasim::engine
