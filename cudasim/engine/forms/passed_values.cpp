#include "cudasim/engine/forms/passed_values.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Statement;
using ptx::Type;
using ptx::Variable;
using Kind = ptx::Operand::Kind;

namespace {

std::string bits_of(std::size_t bytes) {
  return "b" + std::to_string(8 * bytes);
}

} // namespace

void PassedValues::fail(const Operand& operand, const std::string& expected)
    const {
  refuse(module_, operand.location, text_of(operand), expected);
}

/// What the function that is called takes and gives; null where that is not
/// known.
std::pair<PassedValues::Formals, PassedValues::Formals> PassedValues::formals(
    const Instruction::Call& call) const {
  Binding binding;
  std::string name = call.target.name;
  if (names_.find(name, &binding)) {
    const Statement* list = names_.list(call.prototype);
    if (list == nullptr) {
      return {nullptr, nullptr};
    }
    if (list->kind == Statement::Kind::kCallPrototype) {
      return {&list->results, &list->parameters};
    }
    name = list->targets[0];
  }
  const ptx::Function* function = module_.find(name);
  return function == nullptr
      ? std::pair<Formals, Formals>()
      : std::pair<Formals, Formals>(&function->results, &function->parameters);
}

/// Whether an operand of a call is no variable.
bool PassedValues::is_value(const Operand& operand) const {
  Binding binding;
  return operand.kind == Kind::kInteger || operand.kind == Kind::kFloat ||
      operand.kind == Kind::kSink || operand.name == "WARP_SZ" ||
      (names_.find(operand.name, &binding) && binding.variable == nullptr);
}

void PassedValues::call(Instruction& instruction) {
  Instruction::Call& call = *instruction.call;
  const auto [results, parameters] = formals(call);
  const auto any = [&](const std::vector<Operand>& operands) {
    return std::any_of(
        operands.begin(), operands.end(), [&](const Operand& operand) {
          return is_value(operand);
        });
  };
  if (results == nullptr || results->size() != call.results.size() ||
      parameters->size() != call.arguments.size() ||
      !(any(call.results) || any(call.arguments))) {
    writer_.add(std::move(instruction));
    return;
  }
  const ptx::Location at = instruction.location;
  const ptx::Guard guard = instruction.guard;
  writer_.add(Statement::Kind::kScopeBegin, at);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (is_value(call.arguments[i])) {
      pass_value(call.arguments[i], (*parameters)[i]);
    }
  }
  struct Load {
    Operand target;
    Operand variable;
    std::string bits;
  };
  std::vector<Load> loads;
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    Operand& result = call.results[i];
    if (is_value(result)) {
      Operand target = result;
      result = writer_.new_variable((*results)[i], at);
      if (target.kind != Kind::kSink) {
        demand_type(target, (*results)[i]);
        loads.push_back(
            {std::move(target),
             result,
             bits_of(ptx::size_of((*results)[i].type))});
      }
    }
  }
  writer_.add(std::move(instruction));
  for (const Load& load : loads) {
    writer_.add(
        "ld.param." + load.bits,
        {load.target, address_at(load.variable)},
        at,
        guard);
  }
  writer_.add(Statement::Kind::kScopeEnd, at);
}

void PassedValues::pass_value(Operand& argument, const Variable& formal) {
  demand_type(argument, formal);
  const Operand variable = writer_.new_variable(formal, argument.location);
  const std::size_t size = ptx::size_of(formal.type);
  const bool is_real = argument.kind == Kind::kFloat;
  writer_.add(
      "st.param." + (is_real ? "f" + std::to_string(8 * size) : bits_of(size)),
      {address_at(variable), argument},
      argument.location);
  argument = variable;
}

void PassedValues::demand_type(const Operand& operand, const Variable& formal)
    const {
  Binding binding;
  bool fits = formal.dimensions.empty() && formal.vector == 1;
  if (operand.kind == Kind::kInteger || operand.kind == Kind::kFloat) {
    fits = fits &&
        (constant_fits(formal.type, operand) ||
         (operand.kind == Kind::kFloat &&
          (formal.type == Type::kB32 || formal.type == Type::kB64)));
  } else if (names_.find(operand.name, &binding)) {
    fits = fits && register_fits(formal.type, binding.type, false) &&
        operand.component == 0 && !operand.negated && operand.offset == 0;
  } else {
    fits = fits && operand.name == "WARP_SZ" && is_integral(formal.type);
  }
  if (!fits) {
    fail(
        operand,
        "a value of type ." + std::string(ptx::name_of(formal.type)) +
            " to pass");
  }
}

} // namespace cudasim::engine
