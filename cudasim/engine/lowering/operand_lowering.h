// Operands of instructions: registers, constants, names and addresses.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/instructions/shape.h"
#include "cudasim/engine/lowering/constants.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/engine/lowering/pending_instruction.h"
#include "cudasim/engine/lowering/register_allocation.h"
#include "cudasim/engine/lowering/variable_places.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Lowers the operands of a function's instructions. An operand may need
/// instructions that the text does not have, such as a conversion.
class OperandLowering {
 public:
  /// @param names what names of the function mean at the instruction that is
  /// lowered.
  /// @param before where instructions go that come before it.
  OperandLowering(
      const KernelLowering& kernel,
      const ptx::Function& function,
      const Names& names,
      const VariablePlaces& places,
      std::vector<PendingInstruction>& before)
      : kernel_(kernel),
        function_(function),
        names_(names),
        places_(places),
        before_(before) {}

  Source declared_register(const Binding& binding);
  /// @param exact whether the register has to be as wide as its type.
  /// @throws LoweringError
  Source value(
      const OperandShape& shape,
      const ptx::Operand& operand,
      bool exact);
  /// @param offset from the result is set to what comes on top of it.
  /// @throws LoweringError
  Source address(
      const OperandShape& shape,
      const ptx::Operand& operand,
      std::int64_t* offset);

  /// The instructions that come behind the one that is lowered, once.
  std::vector<PendingInstruction> take_behind() {
    return std::exchange(behind_, {});
  }

  /// All registers so far, special ones among them, and all constants.
  const std::vector<VirtualRegister>& registers() const {
    return registers_;
  }
  const std::map<std::pair<Special, std::uint8_t>, std::uint32_t>& specials()
      const {
    return specials_;
  }
  const ConstantPool& constants() const {
    return constants_;
  }
  /// Those constants that are addresses of this process.
  const std::set<Slot>& addresses() const {
    return addresses_;
  }
  /// A value in a register of a type: itself where it has the width already.
  Source converted(const Source& source, ptx::Type type);
  /// An address with its constant part.
  Source whole_address(const OperandShape& shape, const ptx::Operand& operand);

 private:
  std::uint32_t new_register(ptx::Type type, bool permanent = false);
  Source scratch(ptx::Type type);
  Source special(Special special, std::uint8_t width);
  Source constant(std::uint64_t bits, std::uint32_t width);
  Source address_constant(std::uint64_t address, std::uint32_t width);
  Source register_source(std::uint32_t index) const;
  Source immediate(const ptx::Operand& operand, ptx::Type type);
  Source named(const OperandShape& shape, const ptx::Operand& operand);
  Source special_register(
      const OperandShape& shape,
      const ptx::Operand& operand);
  void run(
      const char* key,
      const Source& target,
      const std::vector<Source>& sources,
      std::vector<PendingInstruction>& where);
  Source written_through(const Source& target, ptx::Type type);

  const KernelLowering& kernel_;
  const ptx::Function& function_;
  const Names& names_;
  const VariablePlaces& places_;
  std::vector<PendingInstruction>& before_;
  std::vector<PendingInstruction> behind_;
  std::vector<VirtualRegister> registers_;
  std::vector<std::uint8_t> register_widths_;
  /// Of the registers that are declared, those that are used.
  std::unordered_map<std::uint64_t, std::uint32_t> used_;
  std::map<std::pair<Special, std::uint8_t>, std::uint32_t> specials_;
  ConstantPool constants_;
  std::set<Slot> addresses_;
};

} // namespace cudasim::engine
