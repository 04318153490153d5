// Where control goes in a FlatFunction, and which registers are needed where.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/optimization/flat_function.h"

namespace cudasim::engine::optimization {

/// Blocks that control can go to behind this one.
std::vector<std::uint32_t> successors_of(const FlatBlock& block);

/// The edges of a graph of blocks.
struct FlowGraph {
  explicit FlowGraph(const FlatFunction& flat);

  bool is_reached(std::uint32_t block) const {
    return position[block] != kNoBlock;
  }

  /// Reached blocks, each before those behind it but for loops.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> position; // in `order`; kNoBlock: not reached
  std::vector<std::vector<std::uint32_t>> predecessors; // that are reached
};

/// The immediate dominator of each reached block; the first block's is itself.
std::vector<std::uint32_t> immediate_dominators(const FlowGraph& flow);

/// Whether `above` is on all ways to `below`.
bool dominates(
    const std::vector<std::uint32_t>& dominators,
    std::uint32_t above,
    std::uint32_t below);

/// A set of registers.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers = 0)
      : words_((registers + 63) / 64, 0) {}

  bool has(std::uint32_t number) const {
    return (words_[number / 64] >> (number % 64) & 1) != 0;
  }
  void insert(std::uint32_t number) {
    words_[number / 64] |= std::uint64_t{1} << (number % 64);
  }
  void erase(std::uint32_t number) {
    words_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  }
  /// @returns whether there is more than before.
  bool insert_all(const RegisterSet& others);
  bool insert_all_but(const RegisterSet& others, const RegisterSet& excepted);
  std::vector<std::uint32_t> members() const;

 private:
  std::vector<std::uint64_t> words_;
};

/// Takes out what a step writes for sure, and puts in what it reads.
void step_back(const Step& step, RegisterSet& live);

/// For each reached block the registers whose values are needed.
struct Liveness {
  Liveness(const FlatFunction& flat, const FlowGraph& flow);

  std::vector<RegisterSet> at_begin;
  std::vector<RegisterSet> at_end;
};

/// Empties blocks that nothing leads to, and appends each block to the only one
/// that leads to it and nowhere else.
void merge_blocks(FlatFunction& flat);

} // namespace cudasim::engine::optimization
