// Who looks at what a block executes: the checks of CUDASIM_CHECK, the counts
// of CUDASIM_COUNT.
#pragma once

#include <cstdint>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// Who executes: a warp at an instruction.
struct Accessor {
  Warp* warp = nullptr;
  const Code* code = nullptr;
  const Inst* inst = nullptr;
};

/// Is told of all that a block does. Kernels are interpreted then.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  /// A new block begins.
  virtual void start() {}
  /// A barrier of the block opened.
  virtual void barrier_opened() {}
  /// Lanes of a warp meet at a bar.warp.sync or a collective that names them.
  /// @param lanes those that are at this instruction, @param members all.
  virtual void warp_meets(
      const Accessor& /*accessor*/,
      Mask /*lanes*/,
      Mask /*members*/) {}
  /// The lanes in `active` are about to execute an instruction.
  virtual void before(const Accessor& accessor, Mask active) = 0;
};

} // namespace cudasim::engine
