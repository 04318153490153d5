#include "cudasim/engine/lowering/function_lowering.h"

#include <algorithm>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/code/watched_registers.h"
#include "cudasim/engine/lowering/accesses.h"
#include "cudasim/engine/lowering/first_stores.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

void FunctionLowering::lower(const VerifiedBody& body) {
  std::size_t next = 0;
  for (const ptx::Statement& statement : function_.body) {
    names_.pass(statement);
    places_.pass(statement);
    if (statement.kind == ptx::Statement::Kind::kInstruction) {
      lower_instruction(*statement.instruction, body.rows[next++]);
    }
  }
  // A label may stand behind the last instruction.
  ptx::Instruction end;
  end.opcode = "ret";
  end.location = function_.body_location;
  lower_instruction(end, &find_rows(best_isa(), end.opcode)->front());
  finish();
}

void FunctionLowering::lower_row(
    const ptx::Instruction& instruction,
    const Row& row,
    PendingInstruction& pending) {
  std::vector<LoweredOperand> lowered;
  int addresses = 0;
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
  std::uint32_t count = 0;
  for (const OperandShape& shape : row.shape.operands) {
    count += std::max(shape.vector, 1u);
  }
  const bool is_long = count > kOperands;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const OperandShape& shape = row.shape.operands[i];
    const Operand& operand = instruction.operands[i];
    const bool exact = shape.relaxed && is_float(shape.type) && !at_memory;
    const auto add_list = [&](const Operand& list) {
      for (const Operand& element : list.elements) {
        add(operands_.value(shape, element, exact));
      }
    };
    LoweredOperand place;
    place.first = static_cast<std::uint8_t>(pending.operands.size());
    if (shape.kind == OperandShape::Kind::kAddress) {
      const Source address = addresses < 2
          ? operands_.address(shape, operand, &place.offset)
          : operands_.whole_address(shape, operand);
      // Of long instructions no widths are known.
      add(is_long && address.width != 0
              ? operands_.converted(address, ptx::Type::kB64)
              : address);
      place.width = pending.operands.back().width;
      if (addresses == 0) {
        pending.inst.offset = place.offset;
      } else if (addresses == 1) {
        // The second address of cp.async.
        pending.inst.immediate = static_cast<std::uint64_t>(place.offset);
      }
      ++addresses;
    } else if (shape.kind == OperandShape::Kind::kObject) {
      add_object(shape, operand, pending);
    } else if (operand.kind == Kind::kVector) {
      add_list(operand);
      if (shape.paired) {
        add({});
      }
    } else if (operand.kind == Kind::kPair) {
      if (shape.vector != 0) {
        add_list(operand.elements[0]);
      } else {
        add(operands_.value(shape, operand.elements[0], exact));
      }
      OperandShape second;
      second.type = ptx::Type::kPred;
      add(operands_.value(second, operand.elements[1], false));
    } else {
      add(operands_.value(shape, operand, exact));
      if (shape.paired) {
        add({});
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

/// A texture or surface, and as many coordinates as it takes.
void FunctionLowering::add_object(
    const OperandShape& shape,
    const Operand& operand,
    PendingInstruction& pending) {
  OperandShape part;
  part.type = ptx::Type::kB64;
  pending.operands.push_back(operands_.value(part, operand.elements[0], false));
  std::size_t left = shape.coordinates + (shape.layered ? 1 : 0);
  if (left == 0) {
    return;
  }
  part.type = ptx::Type::kB32;
  const Operand& coordinates = operand.elements[1];
  if (coordinates.kind != Kind::kVector) {
    pending.operands.push_back(operands_.value(part, coordinates, false));
    return;
  }
  for (const Operand& coordinate : coordinates.elements) {
    if (left-- == 0) {
      return;
    }
    pending.operands.push_back(operands_.value(part, coordinate, false));
  }
}

void FunctionLowering::lower_instruction(
    const ptx::Instruction& instruction,
    const Row* row) {
  starts_.push_back(static_cast<std::uint32_t>(pending_.size()));
  PendingInstruction pending;
  pending.text = text_of(instruction);
  code_.allocates |= moves_stack(instruction.opcode);
  if (!instruction.guard.predicate.empty()) {
    Binding guard;
    names_.find(instruction.guard.predicate, &guard);
    pending.guard = operands_.declared_register(guard);
    pending.inst.guard_negated = instruction.guard.negated;
  }
  if (!control_.lower(instruction, row, pending)) {
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
  for (PendingInstruction& more : operands_.take_behind()) {
    more.guard = guard;
    more.inst.guard_negated = negated;
    pending_.push_back(std::move(more));
  }
  for (std::size_t i = starts_.back(); i < pending_.size(); ++i) {
    pending_[i].inst.line = instruction.location.line;
  }
}

void FunctionLowering::finish() {
  std::vector<FlowEdge> edges;
  std::vector<Access> accesses;
  for (PendingInstruction& pending : pending_) {
    for (std::uint32_t& target : pending.flow.targets) {
      target = starts_[target];
    }
    edges.push_back(pending.flow);
    Access access;
    access.guarded = pending.guard.kind != Source::Kind::kNone;
    if (access.guarded) {
      access.reads.push_back(pending.guard.index);
    }
    for (std::size_t i = 0; i < pending.operands.size(); ++i) {
      const Source& operand = pending.operands[i];
      if (operand.kind == Source::Kind::kRegister) {
        (i < pending.inst.destinations ? access.writes : access.reads)
            .push_back(operand.index);
      }
    }
    accesses.push_back(std::move(access));
  }
  const ControlFlowGraph graph = ControlFlowGraph::build(edges);
  const auto joins = graph.immediate_post_dominators();
  const auto& registers = operands_.registers();
  const Allocation allocation = allocate_registers(registers, accesses, graph);
  const auto ends_at = [&](std::uint32_t index) {
    const PendingInstruction& pending = pending_[index];
    return pending.is_control && pending.guard.kind == Source::Kind::kNone &&
        (pending.control.kind == ControlKind::kExit ||
         pending.control.kind == ControlKind::kReturn);
  };
  const auto slot_of = [&](const Source& source) {
    return source.kind == Source::Kind::kRegister
        ? allocation.slots[source.index]
        : source.slot;
  };
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    PendingInstruction& pending = pending_[i];
    Inst& inst = pending.inst;
    inst.index = i;
    inst.guard = slot_of(pending.guard);
    std::vector<Slot> slots;
    for (const Source& operand : pending.operands) {
      slots.push_back(slot_of(operand));
    }
    for (std::size_t k = 0; k < slots.size() && k < kOperands; ++k) {
      inst.widths[k] = pending.operands[k].width;
    }
    for (std::size_t k = 0; k < slots.size() && k < 16; ++k) {
      inst.negated = static_cast<std::uint16_t>(
          inst.negated | (pending.operands[k].negated ? 1u << k : 0));
    }
    if (slots.size() > kOperands) {
      auto more = std::make_unique<Slot[]>(slots.size());
      std::copy(slots.begin(), slots.end(), more.get());
      inst.more = more.get();
      inst.more_count = static_cast<std::uint32_t>(slots.size());
      code_.more.push_back(std::move(more));
    } else {
      std::copy(slots.begin(), slots.end(), inst.operands);
    }
    if (pending.is_control) {
      std::uint32_t join = joins[graph.block_of[i]];
      join = join < graph.blocks.size() ? graph.blocks[join].begin : kNowhere;
      // Where nothing is left to do together there is no place to meet.
      finish_control(
          pending,
          i,
          slots,
          join != kNowhere && ends_at(join) ? kNowhere : join);
    }
    code_.instructions.push_back(inst);
    code_.texts.push_back(std::move(pending.text));
    if (pending.accesses.orders || !pending.accesses.list.empty()) {
      code_.accesses[i] = std::move(pending.accesses);
    }
  }
  if (function_.is_entry) {
    std::vector<std::uint32_t> threads;
    for (const auto& [key, index] : operands_.specials()) {
      if (tells_threads_apart(key.first)) {
        threads.push_back(index);
      }
    }
    code_.first_stores = first_stores(
        code_, graph, common_instructions(threads, accesses, registers.size()));
  }
  for (const auto& [key, index] : operands_.specials()) {
    code_.specials.push_back({key.first, allocation.slots[index], key.second});
  }
  if (kWatchRegisters) {
    for (std::size_t i = 0; i < registers.size(); ++i) {
      code_.places.emplace_back(allocation.slots[i], registers[i].bytes);
    }
  }
  code_.constants = operands_.constants().contents();
  code_.constant_bytes = operands_.constants().bytes();
  code_.addresses = operands_.addresses();
  code_.frame_bytes = align_up(allocation.frame_bytes, 64);
  code_.local_bytes = align_up(code_.local_bytes, 16);
}

void FunctionLowering::finish_control(
    PendingInstruction& pending,
    std::uint32_t index,
    const std::vector<Slot>& slots,
    std::uint32_t join) {
  Control& control = pending.control;
  for (Slot* place :
       {&control.members,
        &control.barrier,
        &control.thread_count,
        &control.reduced,
        &control.contribution}) {
    *place = *place == kNoSlot ? kNoSlot : slots[*place];
  }
  if (control.kind == ControlKind::kBranch ||
      control.kind == ControlKind::kIndexedBranch) {
    control.join = join;
    if (control.kind == ControlKind::kBranch) {
      control.target = starts_[control.target];
    }
    for (std::uint32_t& target : control.targets) {
      target = starts_[target];
    }
  }
  // Collectives keep their family's immediate; the others have none.
  pending.inst.run = control_instruction;
  code_.controls.push_back(std::move(control));
  code_.control_of.resize(pending_.size(), 0);
  code_.control_of[index] =
      static_cast<std::uint32_t>(code_.controls.size() - 1);
}

} // namespace cudasim::engine
