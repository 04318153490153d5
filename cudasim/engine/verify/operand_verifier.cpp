#include "cudasim/engine/verify/operand_verifier.h"

#include <algorithm>

#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"
#include "cudasim/ptx/special_registers.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine {
namespace {

using ptx::Operand;
using ptx::Space;
using Kind = ptx::Operand::Kind;

std::string quoted_type(ptx::Type type) {
  return "." + std::string(ptx::name_of(type));
}

const char* name_of(Space space) {
  switch (space) {
    case Space::kConst:
      return ".const";
    case Space::kGlobal:
      return ".global";
    case Space::kLocal:
      return ".local";
    case Space::kParam:
      return ".param";
    case Space::kShared:
      return ".shared";
    default:
      return "generic";
  }
}

/// "" when the constant is one of those that the shape allows.
std::string range_misfit(const OperandShape& shape, const Operand& constant) {
  const std::uint64_t bits = constant.bits;
  if (!shape.choices.empty()) {
    std::string list;
    for (const std::uint64_t choice : shape.choices) {
      if (choice == bits) {
        return "";
      }
      list += (list.empty() ? "" : ", ") + std::to_string(choice);
    }
    return "one of " + list;
  }
  if (bits < shape.low || bits > shape.high) {
    return "a number from " + std::to_string(shape.low) + " to " +
        std::to_string(shape.high);
  }
  return bits % shape.step == 0 ? ""
                                : "a multiple of " + std::to_string(shape.step);
}

bool special_fits(const OperandShape& shape, const Operand& operand) {
  if (!shape.special || shape.written || operand.negated) {
    return false;
  }
  const std::string name = operand.component == 0
      ? operand.name
      : operand.name + "." + operand.component;
  const ptx::Type type = ptx::special_register_type(operand.name);
  if (!has_special_register(name) || is_float(shape.type)) {
    return false;
  }
  if (type == ptx::Type::kPred || shape.type == ptx::Type::kPred) {
    return type == shape.type;
  }
  const std::size_t size = ptx::size_of(shape.type);
  const std::size_t bytes = ptx::size_of(type);
  // Those with components can be read as 16 bits too, and %gridid as 32 or 64
  // (PTX ISA 10).
  return size == bytes || (shape.relaxed && size < bytes) ||
      (shape.type == ptx::Type::kU16 && operand.component != 0) ||
      (size == 4 && name == "%gridid");
}

} // namespace

std::string OperandVerifier::key() const {
  const bool is_param =
      (instruction_.opcode == "ld" || instruction_.opcode == "st") &&
      (has(instruction_, "param") || has(instruction_, "param::func") ||
       has(instruction_, "param::entry"));
  if (!is_param) {
    return canonical_key(instruction_);
  }
  ptx::Instruction adjusted;
  adjusted.opcode = instruction_.opcode;
  adjusted.modifiers = instruction_.modifiers;
  bool is_local = !function_.is_entry;
  for (const Operand& operand : instruction_.operands) {
    Binding binding;
    if (operand.kind == Kind::kAddress && !operand.elements.empty() &&
        names_.find(operand.elements[0].name, &binding)) {
      is_local = binding.kind == Binding::Kind::kLocal ||
          (binding.kind == Binding::Kind::kRegister && is_local);
    }
  }
  for (std::string& modifier : adjusted.modifiers) {
    if (modifier.rfind("param", 0) == 0) {
      modifier = is_local ? "local" : "param";
    }
  }
  return canonical_key(adjusted);
}

void OperandVerifier::verify_cache_policy() const {
  if (!instruction_.cache_policy) {
    return;
  }
  const Operand& policy = *instruction_.cache_policy;
  OperandShape shape;
  shape.type = ptx::Type::kB64;
  const std::string expected = misfit(shape, policy);
  if (!expected.empty()) {
    refuse(
        module_,
        policy.location,
        text_of(policy),
        expected + " as the cache policy of '" + text_of(instruction_) + "'");
  }
}

const Row* OperandVerifier::verify(const std::vector<Row>& rows) const {
  verify_cache_policy();
  Misfit furthest;
  for (const Row& row : rows) {
    Misfit found = misfit(row);
    if (found.expected.empty()) {
      return &row;
    }
    if (furthest.expected.empty() || found.operand > furthest.operand) {
      furthest = std::move(found);
    }
  }
  refuse(module_, furthest.location, furthest.found, furthest.expected);
}

OperandVerifier::Misfit OperandVerifier::misfit(const Row& row) const {
  const auto& shapes = row.shape.operands;
  const auto& operands = instruction_.operands;
  Misfit result;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    result.expected = i < shapes.size()
        ? misfit(shapes[i], is_braced_value(i) ? operand.elements[0] : operand)
        : "no operand here, as '" + text_of(instruction_) + "' has " +
            std::to_string(shapes.size());
    if (result.expected.empty()) {
      continue;
    }
    if (i < shapes.size()) {
      result.expected += " as operand " + std::to_string(i + 1) + " of '" +
          text_of(instruction_) + "'";
    }
    result.operand = i;
    result.location =
        operand.location.line != 0 ? operand.location : instruction_.location;
    result.found = text_of(operand);
    return result;
  }
  if (operands.size() < shapes.size() && !shapes[operands.size()].optional) {
    result.operand = operands.size();
    result.location = instruction_.location;
    result.found = text_of(instruction_);
    result.expected = std::to_string(shapes.size()) + " operands, not " +
        std::to_string(operands.size());
  }
  return result;
}

// As Triton writes loads. A mov takes a register like that, and one only.
bool OperandVerifier::is_braced_value(std::size_t index) const {
  const auto& operands = instruction_.operands;
  const auto braced = [](const Operand& operand) {
    return operand.kind == Kind::kVector && operand.elements.size() == 1;
  };
  const std::string& opcode = instruction_.opcode;
  if (!braced(operands[index]) ||
      operands[index].elements[0].kind == Kind::kSink ||
      operands[index].elements[0].kind == Kind::kAddress) {
    return false;
  }
  if (opcode == "mov") {
    const auto other = operands.size() - 1 - index;
    return operands.size() == 2 &&
        operands[index].elements[0].kind == Kind::kRegister &&
        operands[other].kind == Kind::kRegister;
  }
  return ptx::is_one_of(opcode, {"ld", "ldu", "st", "suld", "sust"});
}

std::string OperandVerifier::misfit(
    const OperandShape& shape,
    const Operand& operand) const {
  switch (shape.kind) {
    case OperandShape::Kind::kLabel: {
      std::uint32_t instruction = 0;
      return names_.find_label(operand.name, &instruction) ? "" : "a label";
    }
    case OperandShape::Kind::kTargets: {
      const ptx::Statement* list = names_.list(operand.name);
      if (list == nullptr ||
          list->kind != ptx::Statement::Kind::kBranchTargets) {
        return "a list of .branchtargets";
      }
      for (const std::string& target : list->targets) {
        std::uint32_t instruction = 0;
        if (!names_.find_label(target, &instruction)) {
          return "targets that are labels (not '" + target + "')";
        }
      }
      return "";
    }
    case OperandShape::Kind::kAddress:
      return address_misfit(shape, operand);
    case OperandShape::Kind::kObject:
      return object_misfit(shape, operand);
    default:
      break;
  }
  const auto alone_misfit = [&](const Operand& value) {
    return shape.vector != 0 ? list_misfit(shape, value)
                             : value_misfit(shape, value);
  };
  if (shape.needs_pair && operand.kind != Kind::kPair) {
    return "a register and a predicate, as in d|p,";
  }
  if (shape.paired && !shape.alone && operand.kind == Kind::kPair) {
    std::string first = alone_misfit(operand.elements[0]);
    if (!first.empty()) {
      return first;
    }
    OperandShape second;
    second.type = ptx::Type::kPred;
    second.written = true;
    second.may_discard = shape.vector == 0;
    return value_misfit(second, operand.elements[1]);
  }
  return alone_misfit(operand);
}

/// Values in braces.
std::string OperandVerifier::list_misfit(
    const OperandShape& shape,
    const Operand& operand) const {
  if (operand.kind != Kind::kVector ||
      operand.elements.size() != shape.vector) {
    return std::to_string(shape.vector) + " values in braces";
  }
  bool any = false;
  VectorValues values;
  for (const Operand& element : operand.elements) {
    std::string expected = value_misfit(shape, element);
    if (!expected.empty()) {
      return expected;
    }
    any |= element.kind != Kind::kSink;
    const bool is_constant =
        element.kind == Kind::kInteger || element.kind == Kind::kFloat;
    Binding binding;
    if (is_constant ? !values.add_constant(element)
                    : element.kind != Kind::kSink &&
                names_.find(element.name, &binding) &&
                !values.add_register(binding.type)) {
      return "values of one type in braces";
    }
  }
  return any ? "" : "at least one value in braces";
}

std::string OperandVerifier::value_misfit(
    const OperandShape& shape,
    const Operand& operand) const {
  // Not put together where it fits, which is nearly always.
  const auto wanted = [&] {
    return (shape.written        ? "a register of type "
                : shape.constant ? "a constant of type "
                                 : "a value of type ") +
        quoted_type(shape.type);
  };
  switch (operand.kind) {
    case Kind::kSink:
      return shape.may_discard ? "" : wanted();
    case Kind::kInteger:
    case Kind::kFloat:
      if (shape.written || shape.variable ||
          !constant_fits(shape.type, operand)) {
        return wanted();
      }
      return range_misfit(shape, operand);
    case Kind::kSpecialRegister:
      return special_fits(shape, operand) ? "" : wanted();
    case Kind::kRegister:
    case Kind::kSymbol:
      return name_misfit(shape, operand).empty() ? "" : wanted();
    default:
      return wanted();
  }
}

std::string OperandVerifier::name_misfit(
    const OperandShape& shape,
    const Operand& operand) const {
  Binding binding;
  if (names_.find(operand.name, &binding) &&
      binding.kind == Binding::Kind::kRegister) {
    const bool negatable = shape.type == ptx::Type::kPred && !shape.written;
    return !shape.constant && operand.offset == 0 && operand.component == 0 &&
            (!operand.negated || negatable) &&
            register_fits(shape.type, binding.type, shape.relaxed)
        ? ""
        : "another register";
  }
  if (operand.negated || operand.component != 0) {
    return "no '!'";
  }
  if (operand.name == "WARP_SZ" && !shape.written) {
    // The one constant that PTX defines by itself (PTX ISA 4.4.2).
    return is_integral(shape.type) ? "" : "a value";
  }
  bool found = false;
  const Space space = space_of(operand.name, &found);
  // What a call passes has no address, a function no place inside, and what is
  // not in a window of the device one of 64 bits.
  const bool is_passed = binding.variable != nullptr && !binding.is_formal &&
      space == Space::kParam && !binding.variable->is_addressed;
  const bool is_wide = space == Space::kNone || space == Space::kGlobal ||
      space == Space::kConst;
  return found && shape.symbol && is_integral(shape.type) && !is_passed &&
          (space != Space::kNone || operand.offset == 0) &&
          (!is_wide || ptx::size_of(shape.type) == 8) &&
          (shape.symbol_space == Space::kNone || shape.symbol_space == space)
      ? ""
      : "a value";
}

Space OperandVerifier::space_of(const std::string& name, bool* found) const {
  Binding binding;
  *found = true;
  if (names_.find(name, &binding)) {
    if (binding.variable != nullptr) {
      return binding.variable->space;
    }
    *found = false; // a register
    return Space::kNone;
  }
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.name == name) {
      return variable.space;
    }
  }
  *found = module_.find(name) != nullptr;
  return Space::kNone;
}

std::string OperandVerifier::address_misfit(
    const OperandShape& shape,
    const Operand& operand) const {
  const auto wanted = [&] {
    return std::string("an address in ") + name_of(shape.space) + " memory";
  };
  if (operand.kind != Kind::kAddress || operand.elements.size() != 1) {
    return wanted();
  }
  const Operand& base = operand.elements[0];
  if (base.kind == Kind::kInteger) {
    return has(instruction_, "local") ? "" : "a register or a name in brackets";
  }
  if (base.kind != Kind::kRegister && base.kind != Kind::kSymbol) {
    return wanted();
  }
  Binding binding;
  if (names_.find(base.name, &binding) &&
      binding.kind == Binding::Kind::kRegister) {
    return is_integral(binding.type) && ptx::size_of(binding.type) >= 2 &&
            ptx::size_of(binding.type) <= 8
        ? ""
        : "a register with an address";
  }
  bool found = false;
  const Space space = space_of(base.name, &found);
  if (!found || space == Space::kNone) {
    return "the name of a variable";
  }
  // .param variables of a body and .local ones are in one memory here, which
  // the key says already.
  if (shape.space == space ||
      (shape.space == Space::kLocal && space == Space::kParam)) {
    return "";
  }
  const bool generic = shape.space == Space::kNone && space != Space::kParam &&
      space != Space::kConst;
  return generic ? "" : wanted();
}

std::string OperandVerifier::object_misfit(
    const OperandShape& shape,
    const Operand& operand) const {
  if (operand.kind != Kind::kAddress || operand.offset != 0) {
    return "a texture or surface object in brackets";
  }
  const Operand& object = operand.elements[0];
  Binding binding;
  if ((object.kind != Kind::kRegister && object.kind != Kind::kSymbol) ||
      !names_.find(object.name, &binding) ||
      binding.kind != Binding::Kind::kRegister ||
      !register_fits(ptx::Type::kU64, binding.type, false)) {
    return "a register of type .u64 with a texture or surface object (the "
           "device has no references such as .texref)";
  }
  if (operand.elements.size() != (shape.coordinates == 0 ? 1 : 2)) {
    return shape.coordinates == 0
        ? "no coordinates"
        : "an object and its coordinates in brackets (samplers of their own, "
          "of .texmode_independent, are not supported)";
  }
  if (shape.coordinates == 0) {
    return "";
  }
  const Operand& coordinates = operand.elements[1];
  if (coordinates.kind == Kind::kVector) {
    return coordinates_misfit(shape, coordinates.elements);
  }
  return coordinates.kind == Kind::kInteger || coordinates.kind == Kind::kFloat
      ? "coordinates in braces"
      : coordinates_misfit(shape, {coordinates});
}

/// Values of 32 bits, with ptxas's exceptions: more of them do no harm, and
/// where one of them has bits only, the others may have any type. So may
/// registers for .f32, and all behind the number of a texture's layer.
std::string OperandVerifier::coordinates_misfit(
    const OperandShape& shape,
    const std::vector<Operand>& coordinates) const {
  const std::size_t count = shape.coordinates + (shape.layered ? 1 : 0);
  const std::size_t size = coordinates.size();
  if (size < count || (size != 1 && size != 2 && size != 4)) {
    return std::to_string(count == 3 ? 4 : count) + " coordinates";
  }
  const bool has_layer =
      shape.layered && ptx::is_one_of(instruction_.opcode, {"tex", "tld4"});
  bool is_free = has_layer;
  OperandShape any;
  any.type = ptx::Type::kB32;
  VectorValues values;
  for (const Operand& coordinate : coordinates) {
    const bool is_constant =
        coordinate.kind == Kind::kInteger || coordinate.kind == Kind::kFloat;
    Binding binding;
    if (!is_constant) {
      std::string expected = value_misfit(any, coordinate);
      if (!expected.empty()) {
        return expected;
      }
      names_.find(coordinate.name, &binding);
      is_free |= is_bits(binding.type) || shape.type == ptx::Type::kF32;
    }
    if (has_layer && &coordinate == &coordinates.front() &&
        (is_constant ? coordinate.kind == Kind::kFloat
                     : is_float(binding.type))) {
      return "the number of a layer, of type .u32, in front";
    }
    if (!has_layer &&
        !(is_constant ? values.add_constant(coordinate)
                      : values.add_register(binding.type))) {
      return "coordinates of one type";
    }
  }
  if (is_free) {
    return "";
  }
  OperandShape typed;
  typed.type = shape.type;
  return value_misfit(typed, coordinates.front());
}

} // namespace cudasim::engine
