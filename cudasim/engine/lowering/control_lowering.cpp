#include "cudasim/engine/lowering/control_lowering.h"

#include "cudasim/engine/code/control.h"

namespace cudasim::engine {

using ptx::Operand;

std::uint32_t ControlLowering::label(const std::string& name) const {
  std::uint32_t index = 0;
  names_.find_label(name, &index);
  return index;
}

bool ControlLowering::lower(
    const ptx::Instruction& instruction,
    const Row* row,
    PendingInstruction& pending) {
  if (instruction.call != nullptr) {
    pending.is_control = true;
    lower_call(instruction, pending);
    return true;
  }
  if (row == nullptr || row->entry->handler != nullptr) {
    return false;
  }
  pending.is_control = true;
  Control& control = pending.control;
  control.kind = kind_in(row->entry->immediate);
  control.reduction = reduction_in(row->entry->immediate);
  switch (control.kind) {
    case ControlKind::kBranch:
      control.target = label(instruction.operands.at(0).name);
      pending.flow.targets = {control.target};
      break;
    case ControlKind::kIndexedBranch:
      for (const std::string& name :
           names_.list(instruction.operands[1].name)->targets) {
        control.targets.push_back(label(name));
      }
      pending.operands.push_back(operands_.value(
          row->shape.operands[0], instruction.operands[0], false));
      pending.flow.targets = control.targets;
      break;
    case ControlKind::kReturn:
      if (function_.is_entry) {
        control.kind = ControlKind::kExit;
      }
      break;
    case ControlKind::kExit:
    case ControlKind::kTrap:
      break;
    default:
      lower_barrier(instruction, *row, pending);
      return true;
  }
  pending.flow.ends_block = true;
  pending.flow.falls_through = pending.guard.kind != Source::Kind::kNone;
  return true;
}

const ptx::Variable& ControlLowering::passed_variable(
    const Operand& operand) const {
  Binding binding;
  if (!names_.find(operand.name, &binding) ||
      binding.kind != Binding::Kind::kLocal) {
    kernel_.fail(
        function_,
        operand.location,
        "only .param variables can be passed to a function, not '" +
            operand.name + "'");
  }
  return *binding.variable;
}

void ControlLowering::lower_call(
    const ptx::Instruction& instruction,
    PendingInstruction& pending) {
  Control& control = pending.control;
  const ptx::Instruction::Call& call = *instruction.call;
  control.kind = ControlKind::kCall;
  Binding binding;
  if (names_.find(call.target.name, &binding)) {
    pending.operands.push_back(operands_.declared_register(binding));
    code_.calls = true;
  } else {
    const ptx::Function* function = kernel_.module.find(call.target.name);
    if (function != nullptr && !function->has_body) {
      control.builtin = builtin_named(call.target.name);
    }
    kernel_.kernel->launches |= is_for_launching(control.builtin);
    if (control.builtin == Builtin::kNone) {
      if (function == nullptr || !function->has_body) {
        const std::string_view reason = why_missing(call.target.name);
        kernel_.fail(
            function_,
            instruction.location,
            "the function '" + call.target.name +
                "' is not defined in this module" +
                (reason.empty() ? "" : "; " + std::string(reason)));
      }
      control.callee = kernel_.code_of(call.target.name);
      code_.calls = true;
    }
  }
  // The callee's side is added when the call is made: its code may not be
  // there yet when functions call each other.
  for (const Operand& operand : call.arguments) {
    const ptx::Variable& variable = passed_variable(operand);
    control.arguments.push_back(
        {static_cast<std::uint32_t>(places_.offset_of(variable)),
         0,
         static_cast<std::uint32_t>(variable.size())});
  }
  for (const Operand& operand : call.results) {
    const ptx::Variable& variable = passed_variable(operand);
    control.results.push_back(
        {0,
         static_cast<std::uint32_t>(places_.offset_of(variable)),
         static_cast<std::uint32_t>(variable.size())});
  }
}

void ControlLowering::lower_barrier(
    const ptx::Instruction& instruction,
    const Row& row,
    PendingInstruction& pending) {
  Control& control = pending.control;
  std::vector<Source> operands;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    operands.push_back(
        operands_.value(row.shape.operands[i], instruction.operands[i], false));
  }
  if (has(instruction, "cluster")) {
    OperandShape shape;
    shape.type = ptx::Type::kU32;
    ptx::Operand number;
    number.kind = ptx::Operand::Kind::kInteger;
    number.bits = kClusterBarrier;
    operands.push_back(operands_.value(shape, number, false));
  }
  const auto use = [&](std::size_t index, Slot* place) {
    if (index < operands.size()) {
      // Replaced by the real slot in finish().
      pending.operands.push_back(operands[index]);
      *place = static_cast<Slot>(pending.operands.size() - 1);
    }
  };
  if (control.kind == ControlKind::kWarpBarrier) {
    use(0, &control.members);
  } else if (control.reduction == BarrierReduction::kNone) {
    use(0, &control.barrier);
    use(1, &control.thread_count);
  } else {
    use(0, &control.reduced);
    pending.inst.destinations = 1;
    use(1, &control.barrier);
    if (operands.size() == 4) {
      use(2, &control.thread_count);
    }
    use(operands.size() - 1, &control.contribution);
    control.contribution_negated = operands.back().negated;
  }
}

} // namespace cudasim::engine
