#include "cudasim/engine/lowering/function_lowering.h"

#include <algorithm>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/code/watched_registers.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {

void FunctionLowering::lower(const VerifiedBody& body) {
  place_parameters();
  std::size_t next = 0;
  for (const ptx::Statement& statement : function_.body) {
    pass(statement);
    if (statement.kind == ptx::Statement::Kind::kInstruction) {
      lower_instruction(*statement.instruction, body.rows[next++]);
    }
  }
  // A label may stand behind the last instruction.
  ptx::Instruction end;
  end.opcode = "ret";
  end.location = function_.body_location;
  lower_instruction(end, nullptr);
  finish();
}

void FunctionLowering::finish() {
  std::vector<FlowEdge> edges;
  std::vector<Access> accesses;
  for (Pending& pending : pending_) {
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
  const Allocation allocation = allocate_registers(registers_, accesses, graph);
  const auto ends_at = [&](std::uint32_t index) {
    const Pending& pending = pending_[index];
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
    Pending& pending = pending_[i];
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
  for (const auto& [key, index] : specials_) {
    code_.specials.push_back({key.first, allocation.slots[index], key.second});
  }
  if (kWatchRegisters) {
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      code_.places.emplace_back(allocation.slots[i], registers_[i].bytes);
    }
  }
  code_.constants = constants_.contents();
  code_.constant_bytes = constants_.bytes();
  code_.frame_bytes = align_up(allocation.frame_bytes, 64);
  code_.local_bytes = align_up(code_.local_bytes, 16);
}

void FunctionLowering::finish_control(
    Pending& pending,
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
