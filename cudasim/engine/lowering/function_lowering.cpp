#include "cudasim/engine/lowering/function_lowering.h"

#include <algorithm>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/lowering/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

void FunctionLowering::lower() {
  find_labels();
  open_scope();
  declare_parameters();
  for (const ptx::Statement& statement : function_.body) {
    switch (statement.kind) {
      case ptx::Statement::Kind::kScopeBegin:
        open_scope();
        break;
      case ptx::Statement::Kind::kScopeEnd:
        close_scope();
        break;
      case ptx::Statement::Kind::kRegisters:
      case ptx::Statement::Kind::kVariable:
        declare(statement);
        break;
      case ptx::Statement::Kind::kInstruction:
        lower_instruction(*statement.instruction);
        break;
      default:
        break;
    }
  }
  close_scope();
  // A label may stand behind the last instruction.
  ptx::Instruction end;
  end.opcode = "ret";
  end.location = function_.body_location;
  lower_instruction(end);
  finish();
}

void FunctionLowering::finish() {
  std::vector<FlowEdge> edges;
  std::vector<Access> accesses;
  for (const Pending& pending : pending_) {
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
      Control& control = pending.control;
      const auto take = [&](Slot& place) {
        place = place == kNoSlot ? kNoSlot : slots[place];
      };
      for (Slot* place :
           {&control.members,
            &control.barrier,
            &control.thread_count,
            &control.reduced,
            &control.contribution}) {
        take(*place);
      }
      if (control.kind == ControlKind::kBranch ||
          control.kind == ControlKind::kIndexedBranch) {
        const std::uint32_t join = joins[graph.block_of[i]];
        control.join =
            join < graph.blocks.size() ? graph.blocks[join].begin : kNowhere;
        if (control.join != kNowhere && ends_at(control.join)) {
          // There is nothing to do together any more.
          control.join = kNowhere;
        }
      }
      // Collectives keep their family's immediate; the others have none.
      inst.run = control_instruction;
      code_.controls.push_back(std::move(control));
      code_.control_of.resize(pending_.size(), 0);
      code_.control_of[i] =
          static_cast<std::uint32_t>(code_.controls.size() - 1);
    }
    code_.instructions.push_back(inst);
    code_.accesses.push_back(pending.access);
  }
  for (const auto& [key, index] : specials_) {
    code_.specials.push_back({key.first, allocation.slots[index], key.second});
  }
  code_.constants = constants_.contents();
  code_.constant_bytes = constants_.bytes();
  code_.frame_bytes = align_up(allocation.frame_bytes, 64);
  code_.local_bytes = align_up(code_.local_bytes, 16);
}

} // namespace cudasim::engine
