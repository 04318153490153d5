// Verifies the operands of one instruction against the rows that have its key.
#pragma once

#include <string>
#include <vector>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

class OperandVerifier {
 public:
  OperandVerifier(
      const ptx::Module& module,
      const ptx::Function& function,
      const Names& names,
      const ptx::Instruction& instruction)
      : module_(module),
        function_(function),
        names_(names),
        instruction_(instruction) {}

  /// The instruction's canonical key, in which .param says where a parameter
  /// is: those of a function, and what it passes on, are in local memory.
  std::string key() const;

  /// The row that fits.
  /// @throws ptx::ParseError when none does: what the row that fits best
  /// expects.
  const Row* verify(const std::vector<Row>& rows) const;

 private:
  void verify_cache_policy() const;

  /// Where and why a row does not fit.
  struct Misfit {
    std::size_t operand = 0;
    ptx::Location location;
    std::string found;
    std::string expected; // empty: it fits
  };

  Misfit misfit(const Row& row) const;
  /// Whether an operand is one value in braces where ptxas takes it for the
  /// value.
  bool is_braced_value(std::size_t index) const;
  std::string misfit(const OperandShape& shape, const ptx::Operand& operand)
      const;
  std::string value_misfit(
      const OperandShape& shape,
      const ptx::Operand& operand) const;
  std::string name_misfit(
      const OperandShape& shape,
      const ptx::Operand& operand) const;
  std::string address_misfit(
      const OperandShape& shape,
      const ptx::Operand& operand) const;
  std::string object_misfit(
      const OperandShape& shape,
      const ptx::Operand& operand) const;
  std::string coordinates_misfit(
      const OperandShape& shape,
      const std::vector<ptx::Operand>& coordinates) const;
  std::string list_misfit(
      const OperandShape& shape,
      const ptx::Operand& operand) const;
  ptx::Space space_of(const std::string& name, bool* found) const;

  const ptx::Module& module_;
  const ptx::Function& function_;
  const Names& names_;
  const ptx::Instruction& instruction_;
};

} // namespace cudasim::engine
