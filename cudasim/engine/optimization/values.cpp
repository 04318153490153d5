#include "cudasim/engine/optimization/values.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine::optimization {

using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

bool is_signed_type(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 ||
      type == Type::kS64;
}

std::uint64_t cut(std::uint64_t bits, std::size_t bytes) {
  return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << 8 * bytes) - 1);
}

/// The number that bits of a type stand for, as 64 bits.
std::uint64_t extended(std::uint64_t bits, Type type) {
  const std::size_t bytes = ptx::size_of(type);
  bits = cut(bits, bytes);
  if (is_signed_type(type) && bytes < 8 && (bits >> (8 * bytes - 1)) != 0) {
    bits |= ~std::uint64_t{0} << 8 * bytes;
  }
  return bits;
}

Value constant_value(std::uint64_t bits) {
  Value value;
  value.kind = Value::Kind::kConstant;
  value.bits = bits;
  return value;
}

/// A comparison of two numbers, extended to 64 bits; -1 for others.
int compared(
    const std::string& how,
    std::uint64_t a,
    std::uint64_t b,
    bool is_signed) {
  const bool less = is_signed
      ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b)
      : a < b;
  if (how == "eq") {
    return a == b;
  }
  if (how == "ne") {
    return a != b;
  }
  if (how == "lt" || how == "lo") {
    return less;
  }
  if (how == "ge" || how == "hs") {
    return !less;
  }
  if (how == "le" || how == "ls") {
    return less || a == b;
  }
  if (how == "gt" || how == "hi") {
    return !less && a != b;
  }
  return -1;
}

/// Two predicates that are joined; one may be enough to know the result.
bool combined(
    const std::string& how,
    const Value& a,
    const Value& b,
    Value* result) {
  const auto is = [](const Value& value, bool wanted) {
    return value.is_constant() && (value.bits != 0) == wanted;
  };
  const bool constants = a.is_constant() && b.is_constant();
  bool set = false;
  if (how == "and" && (is(a, false) || is(b, false) || constants)) {
    set = is(a, true) && is(b, true);
  } else if (how == "or" && (is(a, true) || is(b, true) || constants)) {
    set = is(a, true) || is(b, true);
  } else if (how == "xor" && constants) {
    set = (a.bits != 0) != (b.bits != 0);
  } else {
    return false;
  }
  *result = constant_value(set ? 1 : 0);
  return true;
}

} // namespace

Values::Values(
    const FlatFunction& flat,
    const FlowGraph& flow,
    const Liveness& liveness)
    : flat_(flat),
      flow_(flow),
      live_(flat.blocks.size()),
      values_(flat.blocks.size()),
      reached_(flat.blocks.size(), false) {
  Value none;
  none.kind = Value::Kind::kNone;
  for (const std::uint32_t block : flow.order) {
    live_[block] = liveness.at_begin[block].members();
    values_[block].assign(live_[block].size(), block == 0 ? Value() : none);
  }
  // By place in the order, so that ways into a block are looked at before it.
  std::set<std::uint32_t> left{0};
  while (!left.empty()) {
    const std::uint32_t number = flow.order[*left.begin()];
    left.erase(left.begin());
    const FlatBlock& block = flat.blocks[number];
    ValuesHere& here = at_end(number);
    for (const std::uint32_t next : successors(block, here)) {
      bool changed = !is_reached(next);
      reached_[next] = true;
      for (std::size_t i = 0; i < live_[next].size(); ++i) {
        const Value both = meet(values_[next][i], here[live_[next][i]]);
        changed |= both != values_[next][i];
        values_[next][i] = both;
      }
      if (changed) {
        left.insert(flow.position[next]);
      }
    }
  }
}

ValuesHere& Values::at_begin(std::uint32_t block) {
  here_.resize(flat_.registers.size());
  for (const std::uint32_t reg : changed_) {
    here_[reg] = Value();
  }
  changed_ = live_[block];
  for (std::size_t i = 0; i < live_[block].size(); ++i) {
    here_[live_[block][i]] = values_[block][i];
  }
  return here_;
}

ValuesHere& Values::at_end(std::uint32_t block) {
  ValuesHere& here = at_begin(block);
  for (const Step& step : flat_.blocks[block].steps) {
    apply(step, here);
  }
  return here;
}

int Values::known(const ptx::Guard& guard, const ValuesHere& values) const {
  if (guard.predicate.empty()) {
    return 1;
  }
  const Value& value = values[register_number(guard.predicate)];
  return value.is_constant() ? ((value.bits != 0) != guard.negated ? 1 : 0)
                             : -1;
}

std::vector<std::uint32_t> Values::successors(
    const FlatBlock& block,
    const ValuesHere& values) const {
  if (!block.guard.predicate.empty()) {
    const int taken = known(block.guard, values);
    if (taken >= 0) {
      return {taken != 0 ? block.targets[0] : block.next};
    }
  }
  return successors_of(block);
}

std::vector<std::uint32_t> Values::variables_in(const Value& value) const {
  switch (value.kind) {
    case Value::Kind::kPlace:
      return {value.variable};
    case Value::Kind::kUnknown:
      return sets_[value.variable];
    default:
      return {};
  }
}

Value Values::anywhere(const std::vector<std::uint32_t>& variables) {
  const auto [found, is_new] = set_numbers_.try_emplace(
      variables, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) {
    sets_.push_back(variables);
  }
  Value value;
  value.variable = found->second;
  return value;
}

Value Values::meet(const Value& a, const Value& b) {
  if (a == b || b.kind == Value::Kind::kNone) {
    return a;
  }
  if (a.kind == Value::Kind::kNone) {
    return b;
  }
  const auto ours = variables_in(a);
  const auto theirs = variables_in(b);
  std::vector<std::uint32_t> all;
  std::set_union(
      ours.begin(),
      ours.end(),
      theirs.begin(),
      theirs.end(),
      std::back_inserter(all));
  return anywhere(all);
}

Value Values::operand(const Operand& operand, const ValuesHere& values) const {
  switch (operand.kind) {
    case Kind::kInteger:
      return constant_value(operand.bits);
    case Kind::kRegister:
      return operand.negated || operand.component != 0
          ? Value()
          : values[register_number(operand.name)];
    case Kind::kSymbol: {
      const std::uint32_t variable = flat_.variable_of(operand.name);
      if (variable == kNoVariable) {
        return {};
      }
      Value value;
      value.kind = Value::Kind::kPlace;
      value.variable = variable;
      value.bits = static_cast<std::uint64_t>(operand.offset);
      return value;
    }
    default:
      return {};
  }
}

void Values::apply(const Step& step, ValuesHere& values) {
  const int executed = known(step.instruction.guard, values);
  if (executed == 0) {
    return;
  }
  Value result;
  if (!result_of(step, values, &result)) {
    result = Value();
  }
  for_each_register(
      step, [&](const Operand& operand, const OperandShape& shape, bool at) {
        if (shape.written && !at) {
          const std::uint32_t reg = register_number(operand.name);
          changed_.push_back(reg);
          Value& value = values[reg];
          value = executed == 1 ? result : meet(value, result);
        }
      });
}

/// Whether one is the address of something and the other is null.
bool Values::is_somewhere(const Value& address, const Value& null) const {
  return address.kind == Value::Kind::kPlace && address.generic &&
      address.bits <= flat_.variables[address.variable].variable.size() &&
      null.is_constant() && null.bits == 0;
}

bool Values::result_of(
    const Step& step,
    const ValuesHere& values,
    Value* result) {
  const ptx::Instruction& instruction = step.instruction;
  const auto& operands = instruction.operands;
  const auto& modifiers = instruction.modifiers;
  if (step.row == nullptr || modifiers.empty() || operands.size() < 2 ||
      operands[0].kind != Kind::kRegister) {
    return false;
  }
  const std::string& opcode = instruction.opcode;
  if (opcode == "cvta") {
    const bool to_local = modifiers[0] == "to";
    const std::string& space = modifiers[to_local && modifiers.size() > 1];
    if (space != "local" || modifiers.back() != "u64") {
      return false;
    }
    *result = operand(operands[1], values);
    if (result->kind == Value::Kind::kPlace && result->generic == to_local) {
      result->generic = !to_local;
      return true;
    }
    *result = anywhere(variables_in(*result));
    return true;
  }
  const Type type = ptx::type_named(modifiers.back());
  const std::size_t bytes = ptx::size_of(type);
  const Value a = operand(operands[1], values);
  if (opcode == "mov") {
    if (modifiers.size() != 1 || operands.size() != 2) {
      return false;
    }
    *result = a;
    if (a.is_constant() && type != Type::kPred) {
      result->bits = cut(a.bits, bytes);
    }
    return true;
  }
  if (opcode == "not" && modifiers.size() == 1) {
    *result = constant_value(
        type == Type::kPred ? (a.bits == 0 ? 1 : 0) : cut(~a.bits, bytes));
    return a.is_constant() && bytes <= 8;
  }
  if (type == Type::kPred) {
    return operands.size() == 3 && modifiers.size() == 1 &&
        combined(opcode, a, operand(operands[2], values), result);
  }
  if (!is_integral(type) || bytes > 8) {
    return false;
  }
  if (opcode == "cvt") {
    // From one integer to another: the first type is the result's.
    const Type to = ptx::type_named(modifiers.front());
    const std::size_t width =
        ptx::size_of(flat_.registers[register_number(operands[0].name)]);
    if (modifiers.size() != 2 || !is_integral(to) || !a.is_constant()) {
      return false;
    }
    *result = constant_value(cut(
        extended(cut(extended(a.bits, type), ptx::size_of(to)), to), width));
    return true;
  }
  if (operands.size() < 3) {
    return false;
  }
  const Value b = operand(operands[2], values);
  const bool constants = a.is_constant() && b.is_constant();
  if (opcode == "setp") {
    if (modifiers.size() != 2 || operands.size() != 3) {
      return false;
    }
    int is = -1;
    if (constants) {
      is = compared(
          modifiers[0],
          extended(a.bits, type),
          extended(b.bits, type),
          is_signed_type(type));
    } else if (
        a.kind == Value::Kind::kPlace && b.kind == a.kind &&
        a.variable == b.variable && a.generic == b.generic &&
        ptx::is_one_of(modifiers[0], {"eq", "ne"})) {
      is = compared(modifiers[0], a.bits, b.bits, false);
    }
    if (ptx::is_one_of(modifiers[0], {"eq", "ne"}) &&
        (is_somewhere(a, b) || is_somewhere(b, a))) {
      is = modifiers[0] == "ne";
    }
    *result = constant_value(is > 0 ? 1 : 0);
    return is >= 0;
  }
  if (opcode == "selp") {
    if (modifiers.size() != 1 || operands.size() != 4) {
      return false;
    }
    const Value which = operand(operands[3], values);
    if (which.is_constant()) {
      *result = which.bits != 0 ? a : b;
      if (result->is_constant()) {
        result->bits = cut(result->bits, bytes);
      }
    } else {
      *result = meet(anywhere(variables_in(a)), anywhere(variables_in(b)));
    }
    return true;
  }
  if (operands.size() != 3) {
    return false;
  }
  if (modifiers.size() == 1 && (opcode == "add" || opcode == "sub")) {
    const bool adds = opcode == "add";
    if (constants) {
      *result =
          constant_value(cut(adds ? a.bits + b.bits : a.bits - b.bits, bytes));
      return true;
    }
    if (bytes != 8) {
      return false;
    }
    if (a.kind == Value::Kind::kPlace && b.is_constant()) {
      *result = a;
      result->bits = adds ? a.bits + b.bits : a.bits - b.bits;
      return true;
    }
    if (adds && b.kind == Value::Kind::kPlace && a.is_constant()) {
      *result = b;
      result->bits = a.bits + b.bits;
      return true;
    }
    *result = meet(anywhere(variables_in(a)), anywhere(variables_in(b)));
    return true;
  }
  if (!constants || modifiers.empty()) {
    return false;
  }
  const std::uint64_t left = extended(a.bits, type);
  const std::uint64_t right = extended(b.bits, type);
  if (opcode == "mul" && modifiers.size() == 2) {
    if (modifiers[0] == "lo") {
      *result = constant_value(cut(left * right, bytes));
      return true;
    }
    if (modifiers[0] == "wide" && bytes <= 4) {
      *result = constant_value(cut(left * right, 2 * bytes));
      return true;
    }
    return false;
  }
  if (modifiers.size() != 1) {
    return false;
  }
  if (opcode == "and") {
    *result = constant_value(cut(left & right, bytes));
  } else if (opcode == "or") {
    *result = constant_value(cut(left | right, bytes));
  } else if (opcode == "xor") {
    *result = constant_value(cut(left ^ right, bytes));
  } else if (opcode == "shl") {
    // The amount is one of 32 bits; what is shifted out is gone.
    const std::uint64_t amount = cut(b.bits, 4);
    *result =
        constant_value(amount >= 8 * bytes ? 0 : cut(left << amount, bytes));
  } else {
    return false;
  }
  return true;
}

} // namespace cudasim::engine::optimization
