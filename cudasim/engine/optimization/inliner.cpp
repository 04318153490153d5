#include "cudasim/engine/optimization/inliner.h"

#include <limits>
#include <map>
#include <set>

#include "cudasim/engine/forms/short_forms.h"
#include "cudasim/engine/optimization/passed_variables.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/engine/verify/verifier.h"

namespace cudasim::engine::optimization {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Statement;
using Kind = ptx::Operand::Kind;

constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max() / 4;

/// What is known of a function before any of it is copied.
struct Callee {
  bool fits = false; // whether it can be part of others
  std::size_t steps = 0; // with all that it calls
};

class Inliner {
 public:
  explicit Inliner(const ptx::Module& module) : module_(module) {}

  FlatFunction flatten(ptx::Function& function) {
    Frame frame(module_, function);
    for (const auto* list : {&function.results, &function.parameters}) {
      for (const ptx::Variable& variable : *list) {
        frame.variables[&variable] = flat_.add_variable(variable, true);
      }
    }
    open(new_block());
    read(frame);
    for (const auto& [name, number] : flat_.variable_numbers) {
      if (flat_.variables[number].is_fixed && outside_.count(name) != 0) {
        throw NotOptimized(name + " stands for two things");
      }
    }
    return std::move(flat_);
  }

 private:
  /// A function while it is copied.
  struct Frame {
    Frame(const ptx::Module& module, ptx::Function& function)
        : function(function),
          body(verified(module, function)),
          names(module, function),
          passed(module, function) {}

    static VerifiedBody verified(
        const ptx::Module& module,
        ptx::Function& function) {
      read_body(module, function);
      return verify_body(module, function);
    }

    ptx::Function& function;
    VerifiedBody body;
    Names names;
    PassedVariables passed;
    std::unordered_map<std::uint64_t, std::uint32_t> registers;
    std::unordered_map<const ptx::Variable*, std::string> variables;
    std::map<std::uint32_t, std::uint32_t> blocks; // by instruction
    std::uint32_t behind = kNoBlock; // where a call goes on
  };

  std::uint32_t new_block() {
    flat_.blocks.emplace_back();
    return static_cast<std::uint32_t>(flat_.blocks.size() - 1);
  }

  /// What comes next belongs to this block.
  void open(std::uint32_t block) {
    current_ = block;
  }
  /// Nothing follows what is there.
  void close() {
    current_ = kNoBlock;
  }
  FlatBlock& current() {
    if (current_ == kNoBlock) {
      open(new_block()); // that nothing leads to
    }
    return flat_.blocks[current_];
  }

  std::uint32_t block_at(Frame& frame, const std::string& label) {
    std::uint32_t instruction = 0;
    if (!frame.names.find_label(label, &instruction)) {
      throw NotOptimized("no label " + label);
    }
    const auto [found, is_new] = frame.blocks.try_emplace(instruction, 0);
    if (is_new) {
      found->second = new_block();
    }
    return found->second;
  }

  void read(Frame& frame) {
    std::size_t next = 0;
    for (const Statement& statement : frame.function.body) {
      frame.names.pass(statement);
      switch (statement.kind) {
        case Statement::Kind::kLabel: {
          const std::uint32_t block = block_at(frame, statement.label);
          if (current_ != kNoBlock && current_ != block) {
            current().next = block;
          }
          open(block);
          break;
        }
        case Statement::Kind::kVariable:
          declare(frame, *statement.variable);
          break;
        case Statement::Kind::kCallTargets:
        case Statement::Kind::kCallPrototype:
          throw NotOptimized("calls of addresses");
        case Statement::Kind::kInstruction:
          instruction(frame, *statement.instruction, frame.body.rows[next++]);
          break;
        default:
          break;
      }
    }
    if (current_ == kNoBlock) {
      return;
    }
    ptx::Instruction end;
    end.opcode = "ret";
    end.location = frame.function.body_location;
    instruction(frame, end, &find_rows(best_isa(), end.opcode)->front());
  }

  void declare(Frame& frame, const ptx::Variable& variable) {
    frame.variables[&variable] =
        flat_.add_variable(variable, variable.space == Space::kShared);
  }

  std::string register_of(Frame& frame, const Binding& binding) {
    const auto [found, is_new] = frame.registers.try_emplace(binding.index, 0);
    if (is_new) {
      const std::size_t size = ptx::size_of(binding.type);
      if (size == 1 || size == 16) {
        throw NotOptimized("a register of 8 or 128 bits");
      }
      found->second = flat_.add_register(binding.type);
    }
    return register_name(found->second);
  }

  void rename(Frame& frame, Operand& operand) {
    for (Operand& element : operand.elements) {
      rename(frame, element);
    }
    if (operand.kind != Kind::kRegister && operand.kind != Kind::kSymbol) {
      return;
    }
    Binding binding;
    if (!frame.names.find(operand.name, &binding)) {
      if (is_flat_name(operand.name)) {
        throw NotOptimized("a name like ours");
      }
      outside_.insert(operand.name);
    } else if (binding.kind == Binding::Kind::kRegister) {
      operand.kind = Kind::kRegister;
      operand.name = register_of(frame, binding);
    } else {
      operand.name = frame.variables.at(binding.variable);
    }
  }

  ptx::Guard renamed(Frame& frame, const ptx::Guard& guard) {
    Binding binding;
    if (guard.predicate.empty() ||
        !frame.names.find(guard.predicate, &binding)) {
      return {};
    }
    return {register_of(frame, binding), guard.negated};
  }

  void instruction(
      Frame& frame,
      const ptx::Instruction& instruction,
      const Row* row) {
    if (row == nullptr && instruction.call == nullptr) {
      throw NotOptimized("an instruction that is not supported");
    }
    current().location = instruction.location;
    const std::string& opcode = instruction.opcode;
    if (moves_stack(opcode)) {
      // What it gives is freed when its own function returns.
      throw NotOptimized(opcode);
    }
    const ptx::Guard guard = renamed(frame, instruction.guard);
    if (opcode == "bra") {
      branch(guard, block_at(frame, instruction.operands.at(0).name));
    } else if (opcode == "brx") {
      indexed_branch(frame, instruction);
    } else if (opcode == "ret" && frame.behind != kNoBlock) {
      branch(guard, frame.behind);
    } else if (
        instruction.call != nullptr && guard.predicate.empty() &&
        inlines(frame, *instruction.call)) {
      inline_call(frame, *instruction.call);
    } else {
      add(frame, instruction, row, guard);
      if (guard.predicate.empty() &&
          (opcode == "ret" || opcode == "exit" || opcode == "trap")) {
        close();
      }
    }
  }

  void branch(const ptx::Guard& guard, std::uint32_t target) {
    if (guard.predicate.empty()) {
      current().next = target;
      close();
      return;
    }
    const std::uint32_t next = new_block();
    current().guard = guard;
    current().targets = {target};
    current().next = next;
    open(next);
  }

  void indexed_branch(Frame& frame, const ptx::Instruction& instruction) {
    const Statement* list = frame.names.list(instruction.operands.at(1).name);
    if (list == nullptr || !instruction.guard.predicate.empty()) {
      throw NotOptimized("a guarded brx.idx");
    }
    std::vector<std::uint32_t> targets;
    for (const std::string& name : list->targets) {
      targets.push_back(block_at(frame, name));
    }
    FlatBlock& block = current();
    block.index = std::make_unique<Operand>(instruction.operands[0]);
    rename(frame, *block.index);
    block.targets = std::move(targets);
    close();
  }

  void add(
      Frame& frame,
      const ptx::Instruction& instruction,
      const Row* row,
      const ptx::Guard& guard) {
    Step step{copy_of(instruction), row};
    step.instruction.guard = guard;
    for (Operand& operand : step.instruction.operands) {
      rename(frame, operand);
    }
    if (step.instruction.cache_policy) {
      rename(frame, *step.instruction.cache_policy);
    }
    if (step.instruction.call != nullptr) {
      rename_call(frame, *step.instruction.call);
    }
    if (frame.behind != kNoBlock) {
      // What a function is given is in local memory, an entry's is not.
      for (std::string& modifier : step.instruction.modifiers) {
        if (modifier == "param::entry") {
          throw NotOptimized("a kernel's parameter in another function");
        }
        if (modifier.rfind("param", 0) == 0 && is_by_register(step)) {
          modifier = "local";
        }
      }
    }
    current().steps.push_back(std::move(step));
    ++steps_;
  }

  static bool is_by_register(const Step& step) {
    bool is = false;
    for_each_register(
        step, [&](const Operand&, const OperandShape&, bool at) { is |= at; });
    return is;
  }

  void rename_call(Frame& frame, ptx::Instruction::Call& call) {
    Binding binding;
    if (frame.names.find(call.target.name, &binding)) {
      throw NotOptimized("calls of addresses");
    }
    if (is_flat_name(call.target.name)) {
      throw NotOptimized("a name like ours");
    }
    outside_.insert(call.target.name);
    for (auto* list : {&call.results, &call.arguments}) {
      for (Operand& operand : *list) {
        if (frame.names.find(operand.name, &binding) &&
            binding.variable == nullptr) {
          throw NotOptimized("registers that are passed on");
        }
        rename(frame, operand);
      }
    }
  }

  /// The function that a call names, where it has a body here.
  ptx::Function* callee_of(
      const Frame& frame,
      const ptx::Instruction::Call& call) const {
    Binding binding;
    const ptx::Function* function = frame.names.find(call.target.name, &binding)
        ? nullptr
        : module_.find(call.target.name);
    return function != nullptr && function->has_body
        ? const_cast<ptx::Function*>(function)
        : nullptr;
  }

  bool inlines(const Frame& frame, const ptx::Instruction::Call& call) {
    ptx::Function* function = callee_of(frame, call);
    if (function == nullptr) {
      return false;
    }
    const Callee& callee = known(*function);
    if (!callee.fits || steps_ + callee.steps > kMostSteps) {
      return false;
    }
    const auto original = [&](const Operand& operand) -> const ptx::Variable* {
      Binding binding;
      frame.names.find(operand.name, &binding);
      // Those that the function itself was given have other readers.
      return binding.variable != nullptr &&
              !is_parameter(frame.function, binding.variable)
          ? binding.variable
          : nullptr;
    };
    for (const Operand& operand : call.arguments) {
      const ptx::Variable* variable = original(operand);
      if (variable == nullptr || !frame.passed.is_argument(variable)) {
        return false;
      }
    }
    for (const Operand& operand : call.results) {
      const ptx::Variable* variable = original(operand);
      if (variable == nullptr || !frame.passed.is_result(variable)) {
        return false;
      }
    }
    return true;
  }

  static bool is_parameter(
      const ptx::Function& function,
      const ptx::Variable* variable) {
    for (const auto* list : {&function.results, &function.parameters}) {
      for (const ptx::Variable& parameter : *list) {
        if (&parameter == variable) {
          return true;
        }
      }
    }
    return false;
  }

  void inline_call(Frame& frame, const ptx::Instruction::Call& call) {
    ptx::Function& function = *callee_of(frame, call);
    Frame inner(module_, function);
    const auto bind = [&](const std::vector<Operand>& actual,
                          const std::vector<ptx::Variable>& formal) {
      for (std::size_t i = 0; i < actual.size(); ++i) {
        Binding binding;
        frame.names.find(actual[i].name, &binding);
        inner.variables[&formal[i]] = frame.variables.at(binding.variable);
      }
    };
    bind(call.results, function.results);
    bind(call.arguments, function.parameters);
    inner.behind = new_block();
    current(); // a call that nothing leads to has a block, too
    read(inner);
    open(inner.behind);
  }

  const Callee& known(ptx::Function& function) {
    const auto [found, is_new] = callees_.try_emplace(&function);
    if (!is_new) {
      return found->second; // of one that is being looked at: does not fit
    }
    found->second.steps = kEndless;
    read_body(module_, function);
    Callee callee;
    callee.fits = true;
    for (const Statement& statement : function.body) {
      switch (statement.kind) {
        case Statement::Kind::kCallTargets:
        case Statement::Kind::kCallPrototype:
          callee.fits = false;
          break;
        case Statement::Kind::kVariable:
          // Shared memory is known by the function's name.
          callee.fits &= statement.variable->space != Space::kShared;
          break;
        case Statement::Kind::kInstruction:
          callee.steps += 1;
          if (statement.instruction->call != nullptr) {
            const ptx::Function* inner =
                module_.find(statement.instruction->call->target.name);
            if (inner != nullptr && inner->has_body) {
              const Callee& other = known(const_cast<ptx::Function&>(*inner));
              callee.fits &= other.steps < kEndless;
              callee.steps += other.steps;
            }
          }
          break;
        default:
          break;
      }
      callee.steps = std::min(callee.steps, kEndless);
    }
    return callees_[&function] = callee;
  }

  const ptx::Module& module_;
  FlatFunction flat_;
  std::uint32_t current_ = kNoBlock;
  std::size_t steps_ = 0;
  std::set<std::string> outside_; // names that the bodies do not declare
  std::map<const ptx::Function*, Callee> callees_;
};

} // namespace

FlatFunction flatten(const ptx::Module& module, ptx::Function& function) {
  return Inliner(module).flatten(function);
}

} // namespace cudasim::engine::optimization
