// Lowering of instructions by their rows.
#include "cudasim/engine/lowering/function_lowering.h"

#include <algorithm>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/lowering/accesses.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

void FunctionLowering::lower_row(
    const ptx::Instruction& instruction,
    const Row& row,
    Pending& pending) {
  std::vector<LoweredOperand> lowered;
  bool have_address = false;
  const auto add = [&](const Source& source) {
    pending.operands.push_back(source);
  };
  // Loads and stores look at the widths of their registers, and so do
  // conversions of integers.
  const bool at_memory = std::any_of(
      row.shape.operands.begin(),
      row.shape.operands.end(),
      [](const OperandShape& shape) {
        return shape.kind == OperandShape::Kind::kAddress;
      });
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const OperandShape& shape = row.shape.operands[i];
    const Operand& operand = instruction.operands[i];
    const bool exact = shape.relaxed && is_float(shape.type) && !at_memory;
    LoweredOperand place;
    place.first = static_cast<std::uint8_t>(pending.operands.size());
    if (shape.kind == OperandShape::Kind::kAddress) {
      add(address(shape, operand, &place.offset));
      place.width = pending.operands.back().width;
      if (have_address) {
        // The second address of cp.async.
        pending.inst.immediate = static_cast<std::uint64_t>(place.offset);
      } else {
        pending.inst.offset = place.offset;
      }
      have_address = true;
    } else if (operand.kind == Kind::kVector) {
      for (const Operand& element : operand.elements) {
        add(value(shape, element, exact));
      }
    } else if (operand.kind == Kind::kPair) {
      add(value(shape, operand.elements[0], exact));
      OperandShape second;
      second.type = ptx::Type::kPred;
      add(value(second, operand.elements[1], false));
    } else {
      add(value(shape, operand, exact));
      if (shape.paired) {
        add(none());
      }
    }
    lowered.push_back(place);
    if (shape.written) {
      pending.inst.destinations =
          static_cast<std::uint8_t>(pending.operands.size());
    }
    if (shape.members) {
      pending.control.members = static_cast<Slot>(place.first);
    }
  }
  pending.inst.run = row.entry->handler;
  if (row.entry->immediate != 0) {
    pending.inst.immediate = row.entry->immediate;
  }
  pending.accesses.list = accesses_of(instruction, row.shape, lowered);
  pending.accesses.orders = orders(instruction, row.shape);
  if (row.shape.warp_wide || pending.control.members != kNoSlot) {
    pending.is_control = true;
    pending.control.kind = ControlKind::kCollective;
    pending.control.handler = pending.inst.run;
  }
}

void FunctionLowering::lower_instruction(
    const ptx::Instruction& instruction,
    const Row* row) {
  starts_.push_back(static_cast<std::uint32_t>(pending_.size()));
  Pending pending;
  pending.text = text_of(instruction);
  if (!instruction.guard.predicate.empty()) {
    Binding guard;
    names_.find(instruction.guard.predicate, &guard);
    pending.guard = declared_register(guard);
    pending.inst.guard_negated = instruction.guard.negated;
  }
  if (!lower_control(instruction, row, pending)) {
    if (row != nullptr) {
      lower_row(instruction, *row, pending);
    } else {
      // Named when it is executed: code that never runs does no harm.
      pending.inst.run = unsupported_instruction;
    }
  }
  const Source guard = pending.guard;
  const bool negated = pending.inst.guard_negated;
  pending_.push_back(std::move(pending));
  for (Pending& more : behind_) {
    more.guard = guard;
    more.inst.guard_negated = negated;
    pending_.push_back(std::move(more));
  }
  behind_.clear();
  for (std::size_t i = starts_.back(); i < pending_.size(); ++i) {
    pending_[i].inst.line = instruction.location.line;
  }
}

} // namespace cudasim::engine
