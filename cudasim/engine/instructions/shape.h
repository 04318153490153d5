// What the operands of an instruction have to be, read from the text in its row
// (family.h tells how that is written).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// What one operand has to be.
struct OperandShape {
  enum class Kind : std::uint8_t {
    kValue, // a register or a constant, or a register that is written
    kAddress, // [a]
    kObject, // [a, c]: of a texture or surface, and perhaps coordinates
    kLabel, // of a branch
    kTargets, // the name of a list of labels
  };
  Kind kind = Kind::kValue;
  /// Of a value: PTX's type; of an address: that of an element, or kNone.
  ptx::Type type = ptx::Type::kNone;
  bool written = false;
  /// How many values stand in braces; 0: one value without braces.
  std::uint32_t vector = 0;
  /// A predicate may follow that is written too: "d|p".
  bool paired = false;
  bool needs_pair = false; // it has to follow
  /// It has a place, but never follows.
  bool alone = false;
  bool variable = false; // only a register, no constant
  bool may_discard = false; // "_" may stand for it
  bool optional = false; // it may be missing, at the end
  bool relaxed = false; // the register may be wider than the type
  bool constant = false; // only a constant
  bool members = false; // the member mask of a collective
  bool special = false; // a special register may stand for it
  /// The address of a variable may stand for it, of this space only where that
  /// is not kNone.
  bool symbol = false;
  ptx::Space symbol_space = ptx::Space::kNone;
  /// Constants that are allowed: `choices`, or where that is empty low to high
  /// in steps.
  std::vector<std::uint64_t> choices;
  std::uint64_t low = 0;
  std::uint64_t high = ~std::uint64_t{0};
  std::uint64_t step = 1;
  /// kAddress: its space, kNone for generic ones; what is done there, and the
  /// bytes that each lane accesses: 0 where that is not said, or as the
  /// constant `size_operand` says where that is not -1.
  ptx::Space space = ptx::Space::kNone;
  /// kObject: how many coordinates there are, of `type`, and whether the number
  /// of a layer is in front of them.
  std::uint32_t coordinates = 0;
  bool layered = false;
  bool reads = false;
  bool writes = false;
  std::uint32_t bytes = 0;
  int size_operand = -1;
  /// kAddress: 0, or so many lines of `bytes` for the warp as a whole. The
  /// next value is their distance in elements; without it there are no gaps.
  std::uint32_t lines = 0;
  std::uint32_t parts = 1; // of an element, which that distance counts
  /// kAddress: how many lanes give an address, the first ones.
  std::uint32_t lanes = 32;
};

/// What all operands of an instruction have to be.
struct Shape {
  std::vector<OperandShape> operands;
  bool warp_wide = false; // all lanes of the warp have to be there
  /// What others did before is ordered before what the thread does next.
  bool orders = false;
};

/// Reads the operands of a row.
/// @param operands in the language of family.h.
/// @param types of the instruction, in the order of the text.
/// @throws std::logic_error when the row is not well formed.
Shape parse_shape(
    std::string_view operands,
    const std::vector<ptx::Type>& types);

} // namespace cudasim::engine
