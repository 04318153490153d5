// What is known of the values of registers: numbers, and places in variables.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cudasim/engine/optimization/flow.h"

namespace cudasim::engine::optimization {

struct Value {
  enum class Kind : std::uint8_t {
    kNone, // nothing leads here
    kConstant, // bits
    kPlace, // `bits` bytes behind the begin of a variable
    kUnknown, // maybe somewhere in a variable of a set
  };
  Kind kind = Kind::kUnknown;
  bool generic = false; // of kPlace: a generic address
  std::uint32_t variable = 0; // of kPlace; of kUnknown: number of the set
  std::uint64_t bits = 0;

  bool operator==(const Value& other) const {
    return kind == other.kind && generic == other.generic &&
        variable == other.variable && bits == other.bits;
  }
  bool operator!=(const Value& other) const {
    return !(*this == other);
  }
  bool is_constant() const {
    return kind == Kind::kConstant;
  }
};

/// Values of all registers at one place.
using ValuesHere = std::vector<Value>;

/// Finds for each block which values registers have at its begin on all ways
/// that control can go.
class Values {
 public:
  Values(
      const FlatFunction& flat,
      const FlowGraph& flow,
      const Liveness& liveness);

  /// Whether control gets to a block, as far as constants tell.
  bool is_reached(std::uint32_t block) const {
    return block == 0 || reached_[block];
  }
  /// What holds at the begin of a block; good until the next call.
  ValuesHere& at_begin(std::uint32_t block);
  /// What holds behind the steps of a block; good until the next call.
  ValuesHere& at_end(std::uint32_t block);

  /// Executes a step.
  void apply(const Step& step, ValuesHere& values);
  /// The result of a step without its guard, where it is one of those that are
  /// followed. @returns whether it is.
  bool result_of(const Step& step, const ValuesHere& values, Value* result);
  /// 1 or 0 for a guard whose predicate is known, else -1.
  int known(const ptx::Guard& guard, const ValuesHere& values) const;
  /// The blocks that control can go to.
  std::vector<std::uint32_t> successors(
      const FlatBlock& block,
      const ValuesHere& values) const;

  /// The variables that a value may be in.
  std::vector<std::uint32_t> variables_in(const Value& value) const;
  Value meet(const Value& a, const Value& b);

 private:
  Value operand(const ptx::Operand& operand, const ValuesHere& values) const;
  bool is_somewhere(const Value& address, const Value& null) const;
  Value anywhere(const std::vector<std::uint32_t>& variables);

  const FlatFunction& flat_;
  const FlowGraph& flow_;
  std::vector<std::vector<std::uint32_t>> live_; // at the begin of blocks
  std::vector<std::vector<Value>> values_; // of those
  std::vector<bool> reached_;
  std::vector<std::vector<std::uint32_t>> sets_{{}};
  std::map<std::vector<std::uint32_t>, std::uint32_t> set_numbers_{{{}, 0}};
  ValuesHere here_;
  std::vector<std::uint32_t> changed_; // registers of here_
};

} // namespace cudasim::engine::optimization
