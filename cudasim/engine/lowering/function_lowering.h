// Lowers one function. What it does in which file:
//   function_lowering.cpp               the whole, and giving registers places
//   function_lowering_declarations.cpp  places for variables
//   function_lowering_operands.cpp      registers, immediates, addresses
//   function_lowering_instructions.cpp  instructions that have handlers
//   function_lowering_control.cpp       branches, calls and barriers
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/constants.h"
#include "cudasim/engine/lowering/control_flow_graph.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/engine/lowering/register_allocation.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Lowers one function, which has been verified.
class FunctionLowering {
 public:
  FunctionLowering(
      KernelLowering& kernel,
      const ptx::Function& function,
      Code& code)
      : kernel_(kernel),
        function_(function),
        code_(code),
        names_(kernel.module, function) {}

  /// @param body what verify_body() gave.
  void lower(const VerifiedBody& body);

 private:
  /// An operand before registers have their places.
  struct Source {
    enum class Kind : std::uint8_t { kNone, kRegister, kConstant };
    Kind kind = Kind::kNone;
    std::uint32_t index = 0; // virtual register
    Slot slot = kNoSlot; // constant
    std::uint8_t width = 0;
    bool negated = false;
  };
  struct Pending {
    Inst inst;
    std::vector<Source> operands;
    Source guard;
    FlowEdge flow; // to instructions as the text counts them
    Control control;
    bool is_control = false;
    Code::Accesses accesses;
    std::string text; // for reports
  };

  [[noreturn]] void fail(ptx::Location location, const std::string& what) const;
  Source none() const {
    return {};
  }
  std::uint32_t new_register(ptx::Type type, bool permanent = false);
  Source scratch(ptx::Type type);
  Source special(Special special, std::uint8_t width);
  Source constant(std::uint64_t bits, std::uint32_t width);
  Source register_source(std::uint32_t index) const;
  Source declared_register(const Binding& binding);
  /// @param exact whether the register has to be as wide as its type.
  Source value(
      const OperandShape& shape,
      const ptx::Operand& operand,
      bool exact);
  Source immediate(const ptx::Operand& operand, ptx::Type type);
  Source named(const OperandShape& shape, const ptx::Operand& operand);
  Source special_register(const ptx::Operand& operand);
  Source address(
      const OperandShape& shape,
      const ptx::Operand& operand,
      std::int64_t* offset);

  // Instructions that the text does not have, before the one that is lowered or
  // behind it.
  void run(
      const char* key,
      const Source& target,
      const std::vector<Source>& sources,
      bool behind = false);
  Source converted(const Source& source, ptx::Type type);
  Source written_through(const Source& target, ptx::Type type);

  void place_parameters();
  void place(const ptx::Variable& variable);
  void pass(const ptx::Statement& statement);
  void lower_instruction(const ptx::Instruction& instruction, const Row* row);
  void lower_row(
      const ptx::Instruction& instruction,
      const Row& row,
      Pending& pending);
  bool lower_control(
      const ptx::Instruction& instruction,
      const Row* row,
      Pending& pending);
  void lower_call(const ptx::Instruction& instruction, Pending& pending);
  void lower_barrier(
      const ptx::Instruction& instruction,
      const Row& row,
      Pending& pending);
  std::uint64_t passed_variable(const ptx::Operand& operand);
  std::uint32_t passed_bytes(const ptx::Operand& operand) const;
  void finish();
  void finish_control(
      Pending& pending,
      std::uint32_t index,
      const std::vector<Slot>& slots,
      std::uint32_t join);

  KernelLowering& kernel_;
  const ptx::Function& function_;
  Code& code_;
  Names names_;
  std::unordered_map<const ptx::Variable*, std::uint64_t> offsets_;
  std::vector<std::uint64_t> local_tops_;
  std::uint64_t local_top_ = 0;
  std::vector<VirtualRegister> registers_;
  std::vector<std::uint8_t> register_widths_;
  /// Of the registers that are declared, those that are used.
  std::unordered_map<std::uint64_t, std::uint32_t> used_;
  std::map<std::pair<Special, std::uint8_t>, std::uint32_t> specials_;
  ConstantPool constants_;
  std::vector<Pending> pending_;
  std::vector<Pending> behind_;
  /// Where each instruction of the text begins in pending_.
  std::vector<std::uint32_t> starts_;
};

} // namespace cudasim::engine
