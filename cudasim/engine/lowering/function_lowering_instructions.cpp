// Lowering of instructions that have handlers.
#include "cudasim/engine/lowering/function_lowering.h"

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/lowering/accesses.h"
#include "cudasim/engine/lowering/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

/// How many of an instruction's operands are written.
int destinations_of(const ptx::Instruction& instruction) {
  if (is_one_of(
          instruction.opcode,
          {"st",
           "red",
           "membar",
           "fence",
           "prefetch",
           "prefetchu",
           "nanosleep",
           "pmevent",
           "griddepcontrol",
           "setmaxnreg",
           "discard",
           "applypriority"})) {
    return 0;
  }
  if (instruction.opcode == "cp" || instruction.opcode == "stmatrix" ||
      (instruction.opcode == "wmma" && has(instruction, "store")) ||
      (instruction.opcode == "mbarrier" &&
       (has(instruction, "init") || has(instruction, "inval")))) {
    return 0;
  }
  return 1;
}

/// Instructions whose first operand may be a pair "d|p": they always have two
/// destinations, the second of which may be missing.
bool has_pair(std::string_view opcode) {
  return is_one_of(opcode, {"setp", "shfl", "match", "elect"});
}

/// Instructions that need all lanes of a member mask, their last operand.
bool has_members(const ptx::Instruction& instruction) {
  return has(instruction, "sync") &&
      is_one_of(
             instruction.opcode, {"shfl", "vote", "match", "redux", "elect"});
}

/// Instructions that need all lanes of the warp.
bool is_warp_wide(const ptx::Instruction& instruction) {
  return is_one_of(
      instruction.opcode, {"mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"});
}

/// Whether an operand is a matrix's stride, which is no number of its type.
bool is_stride(const ptx::Instruction& instruction, const Operand& operand) {
  return instruction.opcode == "wmma" && operand.kind == Kind::kInteger;
}

/// Bytes of an immediate operand: most are of the instruction's last type.
std::uint32_t constant_width(
    const ptx::Instruction& instruction,
    std::size_t operand,
    const std::vector<Type>& types) {
  const std::string_view opcode = instruction.opcode;
  const Type last = types.empty() ? Type::kB32 : types.back();
  const std::uint32_t width = register_width(last);
  if (opcode == "shl" || opcode == "shr") {
    return operand == 2 ? 4 : width;
  }
  if (opcode == "bfe") {
    return operand >= 2 ? 4 : width;
  }
  if (opcode == "bfi") {
    return operand >= 3 ? 4 : width;
  }
  if (opcode == "mad" && has(instruction, "wide")) {
    return operand == 3 ? width * 2 : width;
  }
  if (opcode == "slct" || opcode == "selp") {
    const std::uint32_t first = register_width(types.front());
    return operand == 3 ? width : first;
  }
  return width;
}

} // namespace

void FunctionLowering::lower_plain(
    const ptx::Instruction& instruction,
    Pending& pending) {
  std::vector<Type> types;
  for (const std::string& modifier : instruction.modifiers) {
    const Type type = ptx::type_named(modifier);
    if (type != Type::kNone) {
      types.push_back(type);
    }
  }
  const int destinations = destinations_of(instruction);
  std::size_t written = 0;
  bool have_address = false;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    const std::uint32_t width = constant_width(instruction, i, types);
    const Type type = types.empty() ? Type::kNone : types.back();
    switch (operand.kind) {
      case Kind::kAddress: {
        std::int64_t offset = 0;
        pending.operands.push_back(address(operand, &offset));
        pending.address_width = pending.operands.back().width;
        if (have_address) {
          // The second address of cp.async.
          pending.inst.immediate = static_cast<std::uint64_t>(offset);
        } else {
          pending.inst.offset = offset;
        }
        have_address = true;
        break;
      }
      case Kind::kVector:
        for (const Operand& element : operand.elements) {
          pending.operands.push_back(resolve(element, type, width));
        }
        break;
      case Kind::kPair:
        pending.operands.push_back(resolve(operand.elements[0], type, width));
        pending.operands.push_back(resolve(operand.elements[1], type, width));
        break;
      default:
        pending.operands.push_back(
            is_stride(instruction, operand) ? resolve(operand, Type::kU32, 4)
                                            : resolve(operand, type, width));
        if (i == 0 && has_pair(instruction.opcode)) {
          pending.operands.push_back(none());
        }
    }
    if (static_cast<int>(i) < destinations) {
      written = pending.operands.size();
    }
  }
  pending.inst.destinations = static_cast<std::uint8_t>(written);
}

void FunctionLowering::lower_handler(
    const ptx::Instruction& instruction,
    Pending& pending) {
  // Variables of a lane that PTX has in the space of parameters are in its
  // local memory here.
  ptx::Instruction adjusted;
  adjusted.opcode = instruction.opcode;
  adjusted.modifiers = instruction.modifiers;
  if ((instruction.opcode == "ld" || instruction.opcode == "st") &&
      (has(instruction, "param") || has(instruction, "param::func") ||
       has(instruction, "param::entry"))) {
    bool is_local = !function_.is_entry;
    for (const Operand& operand : instruction.operands) {
      Binding binding;
      if (operand.kind == Kind::kAddress &&
          scope_->find(operand.elements[0].name, &binding)) {
        is_local = binding.kind == Binding::Kind::kLocal ||
            (binding.kind == Binding::Kind::kRegister && is_local);
      }
    }
    for (std::string& modifier : adjusted.modifiers) {
      if (modifier.rfind("param", 0) == 0) {
        modifier = is_local ? "local" : "param";
      }
    }
  }
  const std::string key = canonical_key(adjusted);
  const Entry* entry = find_entry(best_isa(), key.c_str());
  if (entry == nullptr) {
    // Named when it is executed: code that never runs does no harm.
    pending.inst.run = unsupported_instruction;
    return;
  }
  pending.inst.run = entry->handler;
  if (entry->immediate != 0) {
    pending.inst.immediate = entry->immediate;
  }
  if (instruction.opcode == "wmma" && pending.address_width == 4) {
    // Inst::widths ends before the address.
    pending.inst.immediate |= kNarrowAddress;
  }
}

void FunctionLowering::lower_instruction(const ptx::Instruction& instruction) {
  pending_.emplace_back();
  Pending& pending = pending_.back();
  pending.inst.line = instruction.location.line;
  code_.texts.push_back(text_of(instruction));
  if (!instruction.guard.predicate.empty()) {
    Operand guard;
    guard.kind = Kind::kRegister;
    guard.name = instruction.guard.predicate;
    guard.location = instruction.location;
    pending.guard = resolve(guard, Type::kPred, 0);
    pending.inst.guard_negated = instruction.guard.negated;
  }
  if (lower_control(instruction, pending)) {
    return;
  }
  // A special register that changes while a kernel runs has a handler of its
  // own, and so has the address of a local variable.
  if (instruction.opcode == "mov" && instruction.operands.size() == 2) {
    const Operand& source = instruction.operands[1];
    Binding binding;
    if (source.kind == Kind::kSpecialRegister) {
      const Handler handler = changing_register(source.name);
      if (handler != nullptr) {
        pending.operands.push_back(
            resolve(instruction.operands[0], Type::kNone, 8));
        pending.inst.destinations = 1;
        pending.inst.run = handler;
        return;
      }
    } else if (
        (source.kind == Kind::kSymbol || source.kind == Kind::kRegister) &&
        scope_->find(source.name, &binding) &&
        binding.kind == Binding::Kind::kLocal) {
      const Entry* add = find_entry(best_isa(), "add.s64");
      if (add == nullptr) {
        fail(instruction.location, "add.s64 is missing");
      }
      pending.operands = {
          resolve(instruction.operands[0], Type::kB64, 8),
          special(Special::kLocalFrame, 8),
          constant(binding.offset + source.offset, 8)};
      pending.inst.destinations = 1;
      pending.inst.run = add->handler;
      return;
    }
  }
  lower_plain(instruction, pending);
  lower_handler(instruction, pending);
  pending.access = access_of(instruction);
  const bool members = has_members(instruction);
  if (members || is_warp_wide(instruction)) {
    pending.is_control = true;
    pending.control.kind = ControlKind::kCollective;
    pending.control.handler = pending.inst.run;
    if (members) {
      pending.control.members = static_cast<Slot>(pending.operands.size() - 1);
    }
  }
}

} // namespace cudasim::engine
