// Lowers one function. What it does in which file:
//   function_lowering.cpp               the whole, and giving registers places
//   function_lowering_declarations.cpp  scopes, labels, registers, variables
//   function_lowering_operands.cpp      registers, immediates, addresses
//   function_lowering_instructions.cpp  instructions that have handlers
//   function_lowering_control.cpp       branches, calls and barriers
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/constants.h"
#include "cudasim/engine/lowering/control_flow_graph.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/engine/lowering/register_allocation.h"
#include "cudasim/engine/lowering/scope.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Lowers one function.
class FunctionLowering {
 public:
  FunctionLowering(
      KernelLowering& kernel,
      const ptx::Function& function,
      Code& code)
      : kernel_(kernel), function_(function), code_(code) {}

  void lower();

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
    FlowEdge flow;
    Control control;
    bool is_control = false;
    MemoryAccess access;
    std::uint8_t address_width = 0; // bytes of the register with the address
  };

  [[noreturn]] void fail(ptx::Location location, const std::string& what) const;
  Source none() const {
    return {};
  }
  std::uint32_t new_register(ptx::Type type, bool permanent = false);
  Source special(Special special, std::uint8_t width);
  Source constant(std::uint64_t bits, std::uint32_t width);
  Source register_source(std::uint32_t index) const;
  Source resolve(
      const ptx::Operand& operand,
      ptx::Type type,
      std::uint32_t width);
  Source immediate(
      const ptx::Operand& operand,
      ptx::Type type,
      std::uint32_t width);
  Source symbol(const ptx::Operand& operand, std::uint32_t width);
  Source special_register(const ptx::Operand& operand);
  Source address(const ptx::Operand& operand, std::int64_t* offset);

  void declare_parameters();
  void declare(const ptx::Statement& statement);
  void open_scope();
  void close_scope();
  void find_labels();
  void lower_instruction(const ptx::Instruction& instruction);
  void lower_plain(const ptx::Instruction& instruction, Pending& pending);
  void lower_handler(const ptx::Instruction& instruction, Pending& pending);
  bool lower_control(const ptx::Instruction& instruction, Pending& pending);
  void lower_call(const ptx::Instruction& instruction, Pending& pending);
  void lower_barrier(const ptx::Instruction& instruction, Pending& pending);
  Binding passed_variable(const ptx::Operand& operand);
  void finish();

  KernelLowering& kernel_;
  const ptx::Function& function_;
  Code& code_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  Scope* scope_ = nullptr;
  std::size_t next_scope_ = 0;
  std::vector<std::uint64_t> local_tops_;
  std::uint64_t local_top_ = 0;
  std::vector<VirtualRegister> registers_;
  std::vector<std::uint8_t> register_widths_;
  std::map<std::pair<Special, std::uint8_t>, std::uint32_t> specials_;
  ConstantPool constants_;
  std::vector<Pending> pending_;
  std::map<std::string, std::vector<std::string>> branch_targets_;
};

} // namespace cudasim::engine
