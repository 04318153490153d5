// A function as a graph of blocks, without scopes: each register and each
// variable has a name of its own, so that a body can become part of another
// and blocks can be copied.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine::optimization {

/// Raised for a function that has something which this folder does not know;
/// it is lowered as it is.
struct NotOptimized : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An instruction that does not end a block.
struct Step {
  ptx::Instruction instruction;
  const Row* row = nullptr; // null: a call
};

ptx::Instruction copy_of(const ptx::Instruction& instruction);
inline Step copy_of(const Step& step) {
  return {copy_of(step.instruction), step.row};
}

inline constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoVariable = ~std::uint32_t{0};

struct FlatBlock {
  std::vector<Step> steps;
  /// Of the branch to `targets[0]` behind the steps; empty: there is none.
  ptx::Guard guard;
  /// Of brx.idx, which goes to one of all `targets`.
  std::unique_ptr<ptx::Operand> index;
  std::vector<std::uint32_t> targets;
  /// Where control goes else; kNoBlock: the last step ends the thread, or
  /// returns, or `index` is there.
  std::uint32_t next = kNoBlock;
  ptx::Location location;
};

struct FlatVariable {
  ptx::Variable variable;
  /// Others know where it is: a parameter of the function, or shared memory.
  bool is_fixed = false;
};

/// The first block is where the function begins.
struct FlatFunction {
  std::vector<ptx::Type> registers; // by number
  std::vector<FlatVariable> variables; // by number
  std::unordered_map<std::string, std::uint32_t> variable_numbers; // by name
  std::vector<FlatBlock> blocks;

  std::uint32_t add_register(ptx::Type type);
  /// @param is_fixed whether it keeps its name.
  /// @returns the name.
  std::string add_variable(const ptx::Variable& variable, bool is_fixed);
  /// The number of a variable; kNoVariable for other names.
  std::uint32_t variable_of(const std::string& name) const;
  std::size_t count_steps() const;
};

/// Whether a name could be one that a FlatFunction gives.
bool is_flat_name(std::string_view name);
std::string register_name(std::uint32_t number);
/// The number in a register's name.
std::uint32_t register_number(const std::string& name);

ptx::Operand register_operand(std::uint32_t number);
ptx::Operand integer_operand(std::uint64_t bits);

/// An instruction of our own, such as "cvt.u32.u16", with its row.
/// @throws NotOptimized where the engine lacks it.
Step make_step(
    std::string_view text,
    std::vector<ptx::Operand> operands,
    const Step& like);

/// Visits the registers of a step besides its guard.
/// @param visit called with the operand, its shape and whether it is the base
/// of an address.
template <typename Visit>
void for_each_register(Step& step, const Visit& visit);

/// The same for an operand and what is in it.
template <typename Visit>
void for_each_register_in(
    ptx::Operand& operand,
    const OperandShape& shape,
    bool is_address,
    const Visit& visit) {
  if (operand.kind == ptx::Operand::Kind::kRegister) {
    visit(operand, shape, is_address);
  }
  for (ptx::Operand& element : operand.elements) {
    for_each_register_in(
        element, shape, operand.kind == ptx::Operand::Kind::kAddress, visit);
  }
}

template <typename Visit>
void for_each_register(Step& step, const Visit& visit) {
  if (step.row == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < step.instruction.operands.size(); ++i) {
    for_each_register_in(
        step.instruction.operands[i],
        step.row->shape.operands[i],
        false,
        visit);
  }
  if (step.instruction.cache_policy) {
    static const OperandShape kPolicy;
    for_each_register_in(*step.instruction.cache_policy, kPolicy, false, visit);
  }
}

template <typename Visit>
void for_each_register(const Step& step, const Visit& visit) {
  for_each_register(
      const_cast<Step&>(step),
      [&](const ptx::Operand& operand,
          const OperandShape& shape,
          bool is_address) { visit(operand, shape, is_address); });
}

/// Visits the registers that end a block: a guard, an index.
template <typename Visit>
void for_each_register_at_end(const FlatBlock& block, const Visit& visit) {
  if (!block.guard.predicate.empty()) {
    visit(register_number(block.guard.predicate));
  }
  if (block.index != nullptr &&
      block.index->kind == ptx::Operand::Kind::kRegister) {
    visit(register_number(block.index->name));
  }
}

/// The body as statements again.
/// @param like what is not in the body: name, parameters, bounds.
std::unique_ptr<ptx::Function> function_of(
    const ptx::Function& like,
    const FlatFunction& flat);

} // namespace cudasim::engine::optimization
