#include "cudasim/engine/forms/short_forms.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/forms/elements.h"
#include "cudasim/engine/forms/passed_values.h"
#include "cudasim/engine/forms/statement_writer.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"
#include "cudasim/ptx/parser.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Statement;
using ptx::Type;
using ptx::Variable;
using Kind = ptx::Operand::Kind;

constexpr std::string_view kComponents = "xyzw";

/// ".x" or ".r" of a vector: which it is; its size where it is none.
std::size_t component_index(char component) {
  const std::size_t colour = std::string_view("rgba").find(component);
  return colour < kComponents.size()
      ? colour
      : std::min(kComponents.find(component), kComponents.size());
}

/// The name of one component of a vector register: that of a register of its
/// own, which no text can have. @param digits see Binding.
std::string component_name(
    const std::string& name,
    std::size_t digits,
    std::size_t component) {
  std::string result = name;
  result.insert(name.size() - digits, {'.', kComponents[component]});
  return result;
}

std::string bits_of_size(std::size_t bytes) {
  return "b" + std::to_string(8 * bytes);
}

bool is_vector_move(const Instruction& instruction) {
  return instruction.opcode == "mov" && !instruction.modifiers.empty() &&
      ptx::is_one_of(instruction.modifiers[0], {"v2", "v4"});
}

std::string vector_prefix(std::uint32_t vector) {
  return vector == 1 ? "" : "v" + std::to_string(vector) + ".";
}

/// Puts the long forms of one body together.
class LongForms {
 public:
  LongForms(const ptx::Module& module, ptx::Function& function)
      : module_(module),
        function_(function),
        names_(module, function),
        elements_(module, names_, writer_),
        passed_(module, names_, writer_) {}
  LongForms(const LongForms&) = delete;
  LongForms& operator=(const LongForms&) = delete;

  std::vector<Statement> take() {
    for (const auto* list : {&function_.parameters, &function_.results}) {
      for (const Variable& variable : *list) {
        if (!variable.in_register.empty()) {
          declare_parameter(variable, list == &function_.parameters);
        }
      }
    }
    for (Statement& statement : function_.body) {
      names_.pass(statement);
      pass(statement);
    }
    store_results(function_.body_location);
    return std::move(writer_.statements);
  }

 private:
  // ---- parameters in registers

  void declare_parameter(const Variable& variable, bool is_given) {
    const ptx::Location at = variable.location;
    Statement declaration;
    declaration.kind = Statement::Kind::kRegisters;
    declaration.registers = std::make_unique<ptx::RegisterDeclaration>();
    declaration.registers->type = variable.type;
    declaration.registers->vector = variable.vector;
    declaration.registers->name = variable.in_register;
    declaration.registers->location = at;
    names_.pass(declaration);
    pass(declaration);
    if (is_given) {
      Operand target = symbol_value(variable.in_register, at);
      expand(target);
      writer_.add(
          "ld.param." + access_of(variable),
          {target, address_at(symbol_value(variable.name, at))},
          at);
    } else {
      Binding binding;
      names_.find(variable.in_register, &binding);
      results_.emplace_back(&variable, binding.index);
    }
  }

  static std::string access_of(const Variable& variable) {
    return vector_prefix(variable.vector) +
        bits_of_size(ptx::size_of(variable.type));
  }

  /// In front of a return.
  void store_results(ptx::Location at) {
    for (const auto& [variable, index] : results_) {
      Operand value = symbol_value(variable->in_register, at);
      Binding binding;
      names_.find(value.name, &binding);
      if (binding.index != index || binding.variable != nullptr) {
        fail(value, "no other register of this name around 'ret'");
      }
      expand(value);
      writer_.add(
          "st.param." + access_of(*variable),
          {address_at(symbol_value(variable->name, at)), value},
          at);
    }
  }

  // ---- statements

  void pass(Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kRegisters:
        if (statement.registers->vector > 1) {
          declare_components(*statement.registers);
          return;
        }
        break;
      case Statement::Kind::kInstruction:
        instruction(*statement.instruction);
        return;
      case Statement::Kind::kCallPrototype:
      case Statement::Kind::kCallTargets: {
        // Not moved: names_ knows where it is.
        Statement& copy = writer_.add(statement.kind, statement.location);
        copy.label = statement.label;
        copy.targets = statement.targets;
        copy.results = statement.results;
        copy.parameters = statement.parameters;
        return;
      }
      default:
        break;
    }
    writer_.statements.push_back(std::move(statement));
  }

  [[noreturn]] void fail(const Operand& operand, const std::string& expected)
      const {
    refuse(module_, operand.location, text_of(operand), expected);
  }

  void declare_components(const ptx::RegisterDeclaration& declared) {
    if (declared.type == Type::kPred ||
        ptx::size_of(declared.type) * declared.vector > 16) {
      refuse(
          module_,
          declared.location,
          declared.name,
          "a vector of at most 16 bytes");
    }
    for (std::size_t i = 0; i < declared.vector; ++i) {
      ptx::RegisterDeclaration one = declared;
      one.vector = 1;
      one.name = component_name(declared.name, 0, i);
      writer_.declare(one);
    }
  }

  void instruction(Instruction& instruction) {
    for (Operand& operand : instruction.operands) {
      expand(operand);
    }
    elements_.expand(instruction);
    if (instruction.opcode == "ret") {
      store_results(instruction.location);
    }
    if (is_vector_move(instruction)) {
      move_components(instruction);
    } else if (instruction.call != nullptr) {
      passed_.call(instruction);
    } else {
      writer_.add(std::move(instruction));
    }
  }

  /// Names a component's own register, or all of a vector.
  void expand(Operand& operand) {
    for (Operand& element : operand.elements) {
      expand(element);
    }
    Binding binding;
    if ((operand.kind != Kind::kRegister && operand.kind != Kind::kSymbol) ||
        !names_.find(operand.name, &binding) || binding.vector == 1) {
      return;
    }
    const auto one = [&](std::size_t index) {
      Operand component = operand;
      component.kind = Kind::kRegister;
      component.component = 0;
      component.name = component_name(operand.name, binding.digits, index);
      components_[component.name] = binding.type;
      return component;
    };
    if (operand.component != 0) {
      const std::size_t index = component_index(operand.component);
      if (index >= binding.vector) {
        fail(operand, "a component that the vector has");
      }
      operand = one(index);
      return;
    }
    Operand all;
    all.kind = Kind::kVector;
    all.location = operand.location;
    for (std::size_t i = 0; i < binding.vector; ++i) {
      all.elements.push_back(one(i));
    }
    operand = std::move(all);
  }

  // ---- moves of vectors

  void move_components(Instruction& move) {
    const std::size_t count = move.modifiers[0] == "v2" ? 2 : 4;
    const std::string text = text_of(move);
    if (move.operands.size() != 2) {
      refuse(module_, move.location, text, "2 operands");
    }
    Operand& target = move.operands[0];
    Operand& source = move.operands[1];
    if (source.kind == Kind::kSpecialRegister && source.component == 0 &&
        count == 4) {
      Operand special = source;
      source.kind = Kind::kVector;
      for (const char component : kComponents) {
        special.component = component;
        source.elements.push_back(special);
      }
    }
    for (const Operand& operand : move.operands) {
      if (operand.kind != Kind::kVector || operand.elements.size() != count) {
        fail(operand, std::to_string(count) + " values for '" + text + "'");
      }
    }
    const Type bits = ptx::type_named(
        bits_of_size(ptx::size_of(ptx::type_named(move.modifiers.back()))));
    if (bits == Type::kNone || ptx::size_of(bits) * count > 16 ||
        move.modifiers.size() != 2) {
      refuse(module_, move.location, text, "a vector of at most 16 bytes");
    }
    const std::string scalar = "mov." + move.modifiers[1];
    for (const Operand& operand : move.operands) {
      demand_one_type(operand);
    }
    // All are read before one is written.
    for (Operand& value : source.elements) {
      Binding binding;
      const bool is_register =
          names_.find(value.name, &binding) && binding.variable == nullptr;
      if (value.kind == Kind::kSink ||
          (value.kind == Kind::kSymbol && !is_register)) {
        fail(value, "a register or a constant");
      }
      const Operand copy = writer_.new_register(bits, move.location);
      writer_.add(scalar, {copy, value}, move.location);
      value = copy;
    }
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      any |= target.elements[i].kind != Kind::kSink;
      if (target.elements[i].kind != Kind::kSink) {
        writer_.add(
            scalar,
            {target.elements[i], source.elements[i]},
            move.location,
            move.guard);
      }
    }
    if (!any) {
      fail(target, "at least one register");
    }
  }

  void demand_one_type(const Operand& vector) const {
    VectorValues values;
    for (const Operand& element : vector.elements) {
      const auto component = components_.find(element.name);
      const bool is_constant =
          element.kind == Kind::kInteger || element.kind == Kind::kFloat;
      Binding binding;
      bool fits = true;
      if (is_constant) {
        fits = values.add_constant(element);
      } else if (component != components_.end()) {
        fits = values.add_register(component->second);
      } else if (
          names_.find(element.name, &binding) && binding.variable == nullptr) {
        fits = values.add_register(binding.type);
      }
      if (!fits) {
        fail(vector, "values of one type in braces");
      }
    }
  }

  const ptx::Module& module_;
  ptx::Function& function_;
  Names names_;
  StatementWriter writer_;
  Elements elements_;
  PassedValues passed_;
  /// The types of components of vectors by their registers' names.
  std::map<std::string, Type> components_;
  /// Those in registers, and which registers these are.
  std::vector<std::pair<const Variable*, std::uint64_t>> results_;
};

bool is_short(const Operand& operand) {
  return operand.kind == Kind::kElement ||
      std::any_of(operand.elements.begin(), operand.elements.end(), is_short);
}

/// Whether a call may pass a register or a number.
/// @param plain_names whether the body has registers without "%".
bool is_short(const Instruction::Call& call, bool plain_names) {
  const auto is_value = [&](const Operand& operand) {
    return operand.kind != Kind::kSymbol || plain_names ||
        operand.name == "WARP_SZ";
  };
  return std::any_of(call.results.begin(), call.results.end(), is_value) ||
      std::any_of(call.arguments.begin(), call.arguments.end(), is_value);
}

bool has_short_forms(const ptx::Function& function) {
  for (const auto* list : {&function.results, &function.parameters}) {
    for (const Variable& variable : *list) {
      if (!variable.in_register.empty()) {
        return true;
      }
    }
  }
  bool plain_names = false;
  for (const Statement& statement : function.body) {
    if (statement.kind == Statement::Kind::kRegisters) {
      plain_names |= statement.registers->name[0] != '%';
      if (statement.registers->vector > 1) {
        return true;
      }
    } else if (statement.kind == Statement::Kind::kInstruction) {
      const Instruction& instruction = *statement.instruction;
      if (is_vector_move(instruction) ||
          (instruction.call != nullptr &&
           is_short(*instruction.call, plain_names)) ||
          std::any_of(
              instruction.operands.begin(),
              instruction.operands.end(),
              [&](const Operand& operand) {
                return is_short(operand) ||
                    (operand.kind == Kind::kAddress &&
                     operand.elements[0].kind == Kind::kSymbol &&
                     is_access_without_space(instruction));
              })) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

void read_body(const ptx::Module& module, ptx::Function& function) {
  if (!function.has_body || !function.body.empty()) {
    return;
  }
  ptx::parse_body(module, function);
  if (!has_short_forms(function)) {
    return;
  }
  try {
    function.body = LongForms(module, function).take();
  } catch (const ptx::ParseError&) {
    function.body.clear(); // the next reader is told the same
    throw;
  }
}

} // namespace cudasim::engine
