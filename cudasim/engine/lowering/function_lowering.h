// Lowers one function: its instructions one by one, then places for their
// registers.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/control_lowering.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/engine/lowering/operand_lowering.h"
#include "cudasim/engine/lowering/pending_instruction.h"
#include "cudasim/engine/lowering/variable_places.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Lowers one function, which has been verified.
class FunctionLowering {
 public:
  /// @throws LoweringError
  FunctionLowering(
      KernelLowering& kernel,
      const ptx::Function& function,
      Code& code)
      : function_(function),
        code_(code),
        names_(kernel.module, function),
        places_(kernel, function, code),
        operands_(kernel, function, names_, places_, pending_),
        control_(kernel, function, names_, places_, operands_, code) {}
  FunctionLowering(const FunctionLowering&) = delete;
  FunctionLowering& operator=(const FunctionLowering&) = delete;

  /// @param body what verify_body() gave.
  /// @throws LoweringError
  void lower(const VerifiedBody& body);

 private:
  void lower_instruction(const ptx::Instruction& instruction, const Row* row);
  void lower_row(
      const ptx::Instruction& instruction,
      const Row& row,
      PendingInstruction& pending);
  void add_object(
      const OperandShape& shape,
      const ptx::Operand& operand,
      PendingInstruction& pending);
  void finish();
  void finish_control(
      PendingInstruction& pending,
      std::uint32_t index,
      const std::vector<Slot>& slots,
      std::uint32_t join);

  const ptx::Function& function_;
  Code& code_;
  Names names_;
  std::vector<PendingInstruction> pending_;
  /// Where each instruction of the text begins in pending_.
  std::vector<std::uint32_t> starts_;
  VariablePlaces places_;
  OperandLowering operands_;
  ControlLowering control_;
};

} // namespace cudasim::engine
