#include "cudasim/engine/forms/elements.h"

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

std::string_view space_word(Space space) {
  switch (space) {
    case Space::kConst:
      return "const";
    case Space::kGlobal:
      return "global";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "param";
    case Space::kShared:
      return "shared";
    default:
      return "";
  }
}

} // namespace

bool is_access_without_space(const Instruction& instruction) {
  return ptx::is_one_of(
             instruction.opcode, {"ld", "ldu", "st", "atom", "red"}) &&
      std::none_of(
             instruction.modifiers.begin(),
             instruction.modifiers.end(),
             [](const std::string& modifier) {
               return ptx::is_one_of(
                   std::string_view(modifier).substr(0, modifier.find(':')),
                   {"global", "shared", "local", "const", "param"});
             });
}

void Elements::fail(const Operand& operand, const std::string& expected) const {
  refuse(module_, operand.location, text_of(operand), expected);
}

const Variable* Elements::variable_named(const std::string& name) const {
  Binding binding;
  if (names_.find(name, &binding)) {
    return binding.variable;
  }
  const auto found = std::find_if(
      module_.variables.begin(),
      module_.variables.end(),
      [&](const Variable& variable) { return variable.name == name; });
  return found == module_.variables.end() ? nullptr : &*found;
}

/// An access that names no state space is one to that of the variable that
/// it names.
void Elements::name_space(Instruction& instruction) const {
  if (!is_access_without_space(instruction)) {
    return;
  }
  for (const Operand& operand : instruction.operands) {
    const bool is_address = operand.kind == Kind::kAddress;
    if (!is_address && operand.kind != Kind::kElement) {
      continue;
    }
    const Variable* variable =
        variable_named(is_address ? operand.elements[0].name : operand.name);
    if (variable != nullptr &&
        (variable->space == Space::kShared ||
         variable->space == Space::kLocal)) {
      instruction.modifiers.emplace_back(space_word(variable->space));
      return;
    }
  }
}

void Elements::expand_elements(Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  const bool at_memory = ptx::is_one_of(opcode, {"ld", "ldu", "st"});
  const std::size_t place = opcode == "st" ? 0 : 1;
  const bool takes = at_memory || opcode == "mov" ||
      (opcode == "cvta" && !has(instruction, "to"));
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    Operand& operand = instruction.operands[i];
    if (operand.kind != Kind::kElement) {
      continue;
    }
    if (!takes || i != place) {
      fail(
          operand,
          "no element of an array as an operand of '" + text_of(instruction) +
              "'");
    }
    const Variable* array = variable_named(operand.name);
    if (array == nullptr || array->dimensions.empty()) {
      fail(operand, "the name of an array before '['");
    }
    if (opcode != "mov") {
      demand_space(operand, *array, instruction);
    }
    if (opcode == "mov" &&
        !is_integral(ptx::type_named(instruction.modifiers.back()))) {
      fail(operand, "a value of the type of '" + text_of(instruction) + "'");
    }
    Operand element = address_of(operand, *array, instruction);
    if (!at_memory) {
      operand = std::move(element);
      continue;
    }
    operand = address_at(std::move(element));
  }
}

/// An address in a register would not tell any more.
void Elements::demand_space(
    const Operand& operand,
    const Variable& array,
    const Instruction& instruction) const {
  const std::string_view word = space_word(array.space);
  const bool names_it = std::any_of(
      instruction.modifiers.begin(),
      instruction.modifiers.end(),
      [&](const std::string& modifier) {
        return modifier.substr(0, modifier.find(':')) == word;
      });
  if (!names_it &&
      !(array.space == Space::kGlobal &&
        is_access_without_space(instruction))) {
    fail(
        operand,
        "an array in the state space of '" + text_of(instruction) + "'");
  }
}

/// The index counts values of the array's type, also where it is an array of
/// vectors or of arrays. Of a register ptxas takes the low 32 bits, adds what
/// stands behind, and takes the sum as unsigned.
Operand Elements::address_of(
    const Operand& operand,
    const Variable& array,
    Instruction& instruction) {
  const auto size = static_cast<std::int64_t>(ptx::size_of(array.type));
  const Operand& index = operand.elements[0];
  Operand symbol = symbol_value(operand.name, operand.location);
  if (index.kind == Kind::kInteger) {
    symbol.offset = static_cast<std::int64_t>(index.bits) * size;
    return symbol;
  }
  Binding binding;
  if (!names_.find(index.name, &binding) || binding.variable != nullptr ||
      index.component != 0 || !is_integral(binding.type)) {
    fail(operand, "an index that is a constant or a register with an integer");
  }
  const ptx::Location at = operand.location;
  const std::size_t width = ptx::size_of(binding.type);
  const Operand count = writer_.new_register(Type::kB32, at);
  writer_.add(
      width == 4 ? "mov.b32" : "cvt.u32.u" + std::to_string(8 * width),
      {count, index},
      at);
  if (operand.offset != 0) {
    writer_.add(
        "add.u32", {count, count, integer_value(operand.offset, at)}, at);
  }
  // What a function is given, and what it passes on, is in local memory.
  Binding named;
  const bool is_local =
      names_.find(operand.name, &named) && named.kind == Binding::Kind::kLocal;
  if (is_local) {
    // Of this function, which is changed here.
    const_cast<Variable&>(array).is_addressed = true;
  }
  for (std::string& modifier : instruction.modifiers) {
    if (is_local && modifier.rfind("param", 0) == 0) {
      modifier = "local";
    }
  }
  const bool is_wide = array.space == Space::kGlobal ||
      array.space == Space::kConst || instruction.opcode == "cvta" ||
      (instruction.opcode == "mov" &&
       ptx::size_of(ptx::type_named(instruction.modifiers.back())) == 8);
  const Operand place =
      writer_.new_register(is_wide ? Type::kB64 : Type::kB32, at);
  writer_.add(is_wide ? "mov.b64" : "mov.b32", {place, symbol}, at);
  writer_.add(
      is_wide ? "mad.wide.u32" : "mad.lo.u32",
      {place, count, integer_value(size, at), place},
      at);
  return place;
}

} // namespace cudasim::engine
