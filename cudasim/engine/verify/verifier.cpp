#include "cudasim/engine/verify/verifier.h"

#include <set>
#include <string>

#include "cudasim/engine/code/lowering_error.h"
#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/targets/requirements.h"
#include "cudasim/engine/verify/call_verifier.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/limits.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/engine/verify/opcodes.h"
#include "cudasim/engine/verify/operand_verifier.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {
namespace {

using ptx::Space;
using ptx::Statement;

/// Verifies one body.
class BodyVerifier {
 public:
  BodyVerifier(const ptx::Module& module, const ptx::Function& function)
      : module_(module),
        function_(function),
        names_(module, function),
        target_(targets_are_strict() ? find_target(module.target) : nullptr) {}

  VerifiedBody verify() {
    std::uint64_t local = 0;
    for (const auto* list : {&function_.results, &function_.parameters}) {
      for (const ptx::Variable& variable : *list) {
        if (!function_.is_entry) {
          add_local(variable, &local);
        }
      }
    }
    for (const Statement& statement : function_.body) {
      names_.pass(statement);
      if (statement.kind == Statement::Kind::kInstruction) {
        body_.rows.push_back(verify_instruction(*statement.instruction));
      } else if (statement.kind == Statement::Kind::kVariable) {
        verify_variable(*statement.variable, &local);
      } else if (statement.kind == Statement::Kind::kRegisters) {
        verify_registers(*statement.registers);
      }
    }
    return std::move(body_);
  }

 private:
  void add_local(const ptx::Variable& variable, std::uint64_t* local) const {
    *local = align_up(*local, alignment_of(variable)) + variable.size();
    if (*local > kMostLocal) {
      refuse(
          module_,
          variable.location,
          variable.name,
          "at most " + std::to_string(kMostLocal) +
              " bytes of local memory in a function, not " +
              std::to_string(*local));
    }
  }

  void verify_variable(const ptx::Variable& variable, std::uint64_t* local) {
    if (variable.type == ptx::Type::kPred) {
      refuse(
          module_,
          variable.location,
          variable.name,
          "a predicate in a register only");
    }
    if (!variable.initializer.empty()) {
      refuse(
          module_,
          variable.location,
          variable.name,
          "no initial value in this state space");
    }
    if (variable.space == Space::kParam && variable.vector > 1 &&
        variable.dimensions.empty()) {
      refuse(module_, variable.location, variable.name, "no vector in .param");
    }
    if (variable.size() == 0) {
      refuse(module_, variable.location, variable.name, "an array with a size");
    }
    if (variable.space != Space::kShared) {
      add_local(variable, local);
    } else if (variable.size() > kMostStaticShared) {
      refuse(
          module_,
          variable.location,
          variable.name,
          "at most " + std::to_string(kMostStaticShared) +
              " bytes of shared memory");
    }
  }

  void verify_registers(const ptx::RegisterDeclaration& registers) const {
    if (ptx::size_of(registers.type) == 0 &&
        registers.type != ptx::Type::kPred) {
      refuse(
          module_, registers.location, registers.name, "a type of registers");
    }
  }

  const Row* verify_instruction(const ptx::Instruction& instruction) {
    if (!instruction.guard.predicate.empty()) {
      Binding guard;
      if (!names_.find(instruction.guard.predicate, &guard) ||
          guard.kind != Binding::Kind::kRegister ||
          guard.type != ptx::Type::kPred) {
        refuse(
            module_,
            instruction.location,
            instruction.guard.predicate,
            "a predicate behind '@'");
      }
    }
    const std::string misfit = modifier_misfit(instruction);
    if (!misfit.empty()) {
      refuse(module_, instruction.location, text_of(instruction), misfit);
    }
    if (instruction.opcode == "call") {
      verify_call(module_, names_, instruction);
      return nullptr;
    }
    const OperandVerifier operands(module_, function_, names_, instruction);
    const std::string key = operands.key();
    const std::vector<Row>* rows = find_rows(best_isa(), key);
    if (rows != nullptr) {
      const Row* row = operands.verify(*rows);
      verify_target(instruction);
      return row;
    }
    const std::string text = text_of(instruction);
    if (!is_opcode(instruction.opcode)) {
      refuse(
          module_,
          instruction.location,
          instruction.opcode,
          "the name of an instruction");
    }
    verify_target(instruction);
    if (has_all_forms(instruction, types_in(text))) {
      refuse(
          module_,
          instruction.location,
          text,
          "a form of '" + instruction.opcode + "' that PTX has");
    }
    // Named when it is executed: code that never runs does no harm.
    return nullptr;
  }

  /// That the module's target and version have an instruction, and the special
  /// registers that it reads.
  void verify_target(const ptx::Instruction& instruction) const {
    if (target_ == nullptr) {
      return;
    }
    const auto needed = requirements_of(instruction);
    if (!needed.empty()) {
      verify_target(instruction, text_of(instruction), needed);
    }
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.kind == ptx::Operand::Kind::kSpecialRegister) {
        verify_target(instruction, operand.name, requirements_of(operand.name));
      }
    }
  }

  void verify_target(
      const ptx::Instruction& instruction,
      const std::string& what,
      const std::vector<const Requirement*>& requirements) const {
    for (const Requirement* needed : requirements) {
      const PtxVersion version{module_.version_major, module_.version_minor};
      const bool is_old = version < needed->version;
      if (!is_old && has(*target_, *needed)) {
        continue;
      }
      refuse(
          module_,
          instruction.location,
          what,
          "what " +
              (is_old ? "PTX " + version.text() + " has, and this needs " +
                       needed->version.text()
                      : module_.target + " has, and this needs " +
                       targets_text(*needed)) +
              " (CUDASIM_PTX_TARGETS=lenient takes it)");
    }
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  Names names_;
  const Target* target_; // null: any
  VerifiedBody body_;
};

} // namespace

VerifiedBody verify_body(
    const ptx::Module& module,
    const ptx::Function& function) {
  return BodyVerifier(module, function).verify();
}

void verify_runs_whole(
    const ptx::Module& module,
    const ptx::Function& function,
    const VerifiedBody& body) {
  std::set<std::string> names;
  std::string missing;
  ptx::Location first;
  auto row = body.rows.begin();
  for (const Statement& statement : function.body) {
    if (statement.kind != Statement::Kind::kInstruction) {
      continue;
    }
    const ptx::Instruction& instruction = *statement.instruction;
    if (*row++ != nullptr || instruction.opcode == "call" ||
        !names.insert(text_of(instruction)).second) {
      continue;
    }
    if (missing.empty()) {
      first = instruction.location;
    }
    missing += (missing.empty() ? "" : ", ") + text_of(instruction);
  }
  if (!missing.empty()) {
    throw LoweringError(
        module.source_name + ":" + std::to_string(first.line) + ":" +
        std::to_string(first.column) + ": the simulated device does not have " +
        missing + ", in " + function.name);
  }
}

} // namespace cudasim::engine
