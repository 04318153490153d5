// Counts what one block executes, for InstructionCounts.
#pragma once

#include <unordered_map>
#include <vector>

#include "cudasim/engine/code/block_observer.h"
#include "cudasim/engine/counts/instruction_counts.h"

namespace cudasim::engine {

/// Adds its counts when it ends. The code that it has seen has to be there
/// still.
class BlockCounter final : public BlockObserver {
 public:
  explicit BlockCounter(InstructionCounts& counts) : counts_(counts) {}
  ~BlockCounter() override;
  BlockCounter(const BlockCounter&) = delete;
  BlockCounter& operator=(const BlockCounter&) = delete;

  void before(const Accessor& accessor, Mask active) override;

 private:
  InstructionCounts& counts_;
  std::unordered_map<const Code*, std::vector<InstructionCount>> of_;
  const Code* last_ = nullptr; // of_last_ is its
  std::vector<InstructionCount>* of_last_ = nullptr;
};

} // namespace cudasim::engine
