// What a warp asks of the block that it belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cudasim/engine/code/block_observer.h"
#include "cudasim/engine/code/control.h"
#include "cudasim/engine/code/dim3.h"
#include "cudasim/engine/code/kernel.h"
#include "cudasim/engine/device_runtime/functions.h"
#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/state/block.h"
#include "cudasim/engine/warp/place.h"

namespace cudasim::engine {

/// A block of threads as the loops of its warps see it.
class EnclosingBlock : public Block {
 public:
  const Kernel* kernel = nullptr;
  Dim3 size; // threads
  std::uint64_t local_bytes = 0; // per lane, with room for calls
  /// Where device printf goes; null or empty: stdout.
  const std::function<void(std::string_view)>* print = nullptr;
  /// Who is told of what this block does; null: nobody.
  BlockObserver* observer = nullptr;
  /// For kernels that launch kernels.
  CallingBlock calling;
  /// Its warps run in turns, and what one of them touches the others do, too.
  RangeCache ranges;

  /// Allocations may have changed since the last turn of a warp.
  void forget_stale_ranges() {
    const auto* device = static_cast<const AddressSpace*>(memory);
    if (device != nullptr && device->generation() != generation_) {
      generation_ = device->generation();
      clear(ranges);
    }
  }

  /// @returns what holds until a warp is asked for again.
  virtual const Place& place(std::uint32_t warp) = 0;

  /// Lanes arrive at a barrier, which may open. `expected` 0: all threads of
  /// the block.
  virtual void arrive(
      std::uint32_t barrier,
      std::uint32_t threads,
      std::uint32_t expected,
      const Control& control,
      Mask contribution,
      Mask active) = 0;
  /// After lanes have exited: barriers that waited for them alone open.
  virtual void threads_exited(std::uint32_t threads) = 0;

 protected:
  ~EnclosingBlock() = default;

 private:
  std::uint64_t generation_ = 0; // of the memory, when `ranges` were cleared
};

} // namespace cudasim::engine
