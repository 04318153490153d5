// What the checks of CUDASIM_CHECK=1 have found in a launch.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

/// What was found in a launch, each pair of instructions once.
class Findings {
 public:
  enum class Kind : std::uint8_t {
    kUninitializedGlobal,
    kUninitializedShared,
    kReadAfterWrite,
    kWriteAfterRead,
    kWriteAfterWrite,
  };

  /// Whether these instructions were not reported as this kind yet.
  /// Thread-safe.
  bool is_new(Kind kind, const Inst* first, const Inst* second);
  void add(std::string text);
  std::vector<std::string> take();

 private:
  std::mutex mutex_;
  std::set<std::tuple<Kind, const Inst*, const Inst*>> known_;
  std::vector<std::string> texts_;
};

} // namespace cudasim::engine
