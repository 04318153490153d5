// Branches, calls and barriers: what the warp's loop executes itself.
#pragma once

#include <cstdint>
#include <string>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/engine/lowering/operand_lowering.h"
#include "cudasim/engine/lowering/pending_instruction.h"
#include "cudasim/engine/lowering/variable_places.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Lowers the instructions of a function that have no handlers.
class ControlLowering {
 public:
  /// @param code is told whether it calls functions.
  ControlLowering(
      KernelLowering& kernel,
      const ptx::Function& function,
      const Names& names,
      const VariablePlaces& places,
      OperandLowering& operands,
      Code& code)
      : kernel_(kernel),
        function_(function),
        names_(names),
        places_(places),
        operands_(operands),
        code_(code) {}

  /// Fills `pending`, which has its guard.
  /// @param row of the instruction; null of a call, and of what has none.
  /// @returns whether it is such an instruction.
  /// @throws LoweringError
  bool lower(
      const ptx::Instruction& instruction,
      const Row* row,
      PendingInstruction& pending);

 private:
  std::uint32_t label(const std::string& name) const;
  void lower_call(
      const ptx::Instruction& instruction,
      PendingInstruction& pending);
  void lower_barrier(
      const ptx::Instruction& instruction,
      const Row& row,
      PendingInstruction& pending);
  const ptx::Variable& passed_variable(const ptx::Operand& operand) const;

  KernelLowering& kernel_;
  const ptx::Function& function_;
  const Names& names_;
  const VariablePlaces& places_;
  OperandLowering& operands_;
  Code& code_;
};

} // namespace cudasim::engine
