// Whether what an instruction reads is needed before another one is executed.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "cudasim/engine/code/code.h"

namespace cudasim::engine {

/// Dependences of values and of branches within functions.
class ValueFlow {
 public:
  /// Whether a value that an instruction writes can be one of those that
  /// another one takes: an operand, its guard, or a branch on the way to it.
  /// What comes out of local memory or of a called function can be anything.
  /// @param from, to indices of instructions of the function.
  /// @param again whether `to` may be executed in between, in a round of a loop
  /// before.
  bool reaches(
      const Code& code,
      std::uint32_t from,
      std::uint32_t to,
      bool again);

 private:
  using Predecessors = std::vector<std::vector<std::uint32_t>>;
  const Predecessors& predecessors(const Code& code);

  std::map<const Code*, Predecessors> predecessors_;
  std::map<std::tuple<const Code*, std::uint32_t, std::uint32_t, bool>, bool>
      known_;
};

} // namespace cudasim::engine
