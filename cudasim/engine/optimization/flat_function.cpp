#include "cudasim/engine/optimization/flat_function.h"

#include <set>

#include "cudasim/engine/instructions/key.h"

namespace cudasim::engine::optimization {

using ptx::Operand;
using ptx::Statement;

namespace {

constexpr std::string_view kRegisterPrefix = "%v";
constexpr std::string_view kVariablePrefix = "$v";

std::unique_ptr<ptx::Instruction::Call> copy_of_call(
    const ptx::Instruction::Call* call) {
  return call == nullptr ? nullptr
                         : std::make_unique<ptx::Instruction::Call>(*call);
}

} // namespace

ptx::Instruction copy_of(const ptx::Instruction& instruction) {
  ptx::Instruction copy;
  copy.opcode = instruction.opcode;
  copy.modifiers = instruction.modifiers;
  copy.guard = instruction.guard;
  copy.operands = instruction.operands;
  copy.cache_policy = instruction.cache_policy;
  copy.call = copy_of_call(instruction.call.get());
  copy.location = instruction.location;
  return copy;
}

std::uint32_t FlatFunction::add_register(ptx::Type type) {
  registers.push_back(type);
  return static_cast<std::uint32_t>(registers.size() - 1);
}

std::string FlatFunction::add_variable(
    const ptx::Variable& variable,
    bool is_fixed) {
  const auto number = static_cast<std::uint32_t>(variables.size());
  variables.push_back({variable, is_fixed});
  ptx::Variable& added = variables.back().variable;
  // A function may take the address of its own parameter, which is passed on
  // here once the function is part of its caller.
  added.is_addressed = true;
  std::string& name = added.name;
  if (!is_fixed) {
    name = std::string(kVariablePrefix) + std::to_string(number);
  }
  if (!variable_numbers.emplace(name, number).second) {
    throw NotOptimized("two variables called " + name);
  }
  return name;
}

std::uint32_t FlatFunction::variable_of(const std::string& name) const {
  const auto found = variable_numbers.find(name);
  return found == variable_numbers.end() ? kNoVariable : found->second;
}

std::size_t FlatFunction::count_steps() const {
  std::size_t count = 0;
  for (const FlatBlock& block : blocks) {
    count += block.steps.size();
  }
  return count;
}

bool is_flat_name(std::string_view name) {
  const std::string_view prefix = name.substr(0, kRegisterPrefix.size());
  return (prefix == kRegisterPrefix || prefix == kVariablePrefix) &&
      name.size() > prefix.size() &&
      name.find_first_not_of("0123456789", prefix.size()) ==
      std::string_view::npos;
}

std::string register_name(std::uint32_t number) {
  return std::string(kRegisterPrefix) + std::to_string(number);
}

std::uint32_t register_number(const std::string& name) {
  std::uint32_t number = 0;
  for (std::size_t i = kRegisterPrefix.size(); i < name.size(); ++i) {
    number = number * 10 + static_cast<std::uint32_t>(name[i] - '0');
  }
  return number;
}

Operand register_operand(std::uint32_t number) {
  Operand operand;
  operand.kind = Operand::Kind::kRegister;
  operand.name = register_name(number);
  return operand;
}

Operand integer_operand(std::uint64_t bits) {
  Operand operand;
  operand.kind = Operand::Kind::kInteger;
  operand.bits = bits;
  return operand;
}

Step make_step(
    std::string_view text,
    std::vector<Operand> operands,
    const Step& like) {
  Step step;
  std::size_t begin = text.find('.');
  step.instruction.opcode = text.substr(0, begin);
  while (begin != std::string_view::npos) {
    const std::size_t end = text.find('.', begin + 1);
    step.instruction.modifiers.emplace_back(
        text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  step.instruction.operands = std::move(operands);
  step.instruction.guard = like.instruction.guard;
  step.instruction.location = like.instruction.location;
  const std::vector<Row>* rows =
      find_rows(best_isa(), canonical_key(step.instruction));
  if (rows == nullptr) {
    throw NotOptimized(std::string(text) + " is missing");
  }
  step.row = &rows->front();
  return step;
}

namespace {

/// Writes a FlatFunction as statements.
class Emission {
 public:
  Emission(const FlatFunction& flat, std::vector<Statement>& body)
      : flat_(flat), body_(body) {}

  void emit() {
    declare();
    lay_out();
    std::set<std::uint32_t> reached;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const FlatBlock& block = flat_.blocks[order_[i]];
      reached.insert(block.targets.begin(), block.targets.end());
      if (i + 1 == order_.size() || block.next != order_[i + 1]) {
        reached.insert(block.next);
      }
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (reached.count(order_[i]) != 0) {
        add(Statement::Kind::kLabel).label = label(order_[i]);
      }
      block(
          flat_.blocks[order_[i]],
          i + 1 < order_.size() ? order_[i + 1] : kNoBlock);
    }
  }

 private:
  Statement& add(Statement::Kind kind) {
    body_.emplace_back();
    body_.back().kind = kind;
    return body_.back();
  }

  static std::string label(std::uint32_t block) {
    return "$L" + std::to_string(block);
  }

  /// Registers and variables that are still there.
  void declare() {
    std::set<std::uint32_t> registers;
    std::set<std::string> names;
    const auto note = [&](const ptx::Guard& guard) {
      if (!guard.predicate.empty()) {
        registers.insert(register_number(guard.predicate));
      }
    };
    for (const FlatBlock& block : flat_.blocks) {
      for (const Step& step : block.steps) {
        note(step.instruction.guard);
        for_each_register(
            step, [&](const Operand& operand, const OperandShape&, bool) {
              registers.insert(register_number(operand.name));
            });
        for (const Operand& operand : step.instruction.operands) {
          note_symbols(operand, names);
        }
        if (step.instruction.call != nullptr) {
          for (const auto* list :
               {&step.instruction.call->results,
                &step.instruction.call->arguments}) {
            for (const Operand& operand : *list) {
              note_symbols(operand, names);
            }
          }
        }
      }
      for_each_register_at_end(
          block, [&](std::uint32_t number) { registers.insert(number); });
    }
    for (const std::uint32_t number : registers) {
      auto declaration = std::make_unique<ptx::RegisterDeclaration>();
      declaration->type = flat_.registers[number];
      declaration->name = register_name(number);
      add(Statement::Kind::kRegisters).registers = std::move(declaration);
    }
    for (const FlatVariable& variable : flat_.variables) {
      const bool is_shared = variable.variable.space == ptx::Space::kShared;
      if (is_shared ||
          (!variable.is_fixed && names.count(variable.variable.name) != 0)) {
        add(Statement::Kind::kVariable).variable =
            std::make_unique<ptx::Variable>(variable.variable);
      }
    }
  }

  static void note_symbols(
      const Operand& operand,
      std::set<std::string>& names) {
    if (operand.kind == Operand::Kind::kSymbol) {
      names.insert(operand.name);
    }
    for (const Operand& element : operand.elements) {
      note_symbols(element, names);
    }
  }

  /// Each block behind the one that goes on with it, where that can be.
  void lay_out() {
    std::vector<bool> placed(flat_.blocks.size(), false);
    for (std::uint32_t first = 0; first < flat_.blocks.size(); ++first) {
      for (std::uint32_t block = first; block != kNoBlock && !placed[block];
           block = flat_.blocks[block].next) {
        placed[block] = true;
        order_.push_back(block);
      }
    }
  }

  void block(const FlatBlock& block, std::uint32_t following) {
    for (const Step& step : block.steps) {
      add(Statement::Kind::kInstruction).instruction =
          std::make_unique<ptx::Instruction>(copy_of(step.instruction));
    }
    if (block.index != nullptr) {
      Statement& list = add(Statement::Kind::kBranchTargets);
      list.label = "$T" + std::to_string(lists_++);
      for (const std::uint32_t target : block.targets) {
        list.targets.push_back(label(target));
      }
      const std::string name = list.label;
      ptx::Instruction& branch = jump(block, "brx", name, {});
      branch.modifiers = {"idx"};
      branch.operands.insert(branch.operands.begin(), *block.index);
      return;
    }
    if (!block.guard.predicate.empty()) {
      jump(block, "bra", label(block.targets[0]), block.guard);
    }
    if (block.next != kNoBlock && block.next != following) {
      jump(block, "bra", label(block.next), {});
    }
  }

  ptx::Instruction& jump(
      const FlatBlock& block,
      const char* opcode,
      const std::string& target,
      const ptx::Guard& guard) {
    auto branch = std::make_unique<ptx::Instruction>();
    branch->opcode = opcode;
    branch->guard = guard;
    branch->location = block.location;
    Operand operand;
    operand.kind = Operand::Kind::kSymbol;
    operand.name = target;
    branch->operands.push_back(std::move(operand));
    Statement& statement = add(Statement::Kind::kInstruction);
    statement.instruction = std::move(branch);
    return *statement.instruction;
  }

  const FlatFunction& flat_;
  std::vector<Statement>& body_;
  std::vector<std::uint32_t> order_;
  std::size_t lists_ = 0;
};

} // namespace

std::unique_ptr<ptx::Function> function_of(
    const ptx::Function& like,
    const FlatFunction& flat) {
  auto function = std::make_unique<ptx::Function>();
  function->name = like.name;
  function->is_entry = like.is_entry;
  function->is_extern = like.is_extern;
  function->is_visible = like.is_visible;
  function->is_weak = like.is_weak;
  function->has_body = true;
  function->is_noreturn = like.is_noreturn;
  function->results = like.results;
  function->parameters = like.parameters;
  function->bounds = like.bounds;
  function->body_location = like.body_location;
  function->location = like.location;
  Emission(flat, function->body).emit();
  return function;
}

} // namespace cudasim::engine::optimization
