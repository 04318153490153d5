#include "cudasim/engine/warp/collective.h"

#include <cstddef>
#include <cstring>

namespace cudasim::engine {
namespace {

/// Copies the active lanes of a register; `width` 0: a predicate.
void copy_lanes(
    std::byte* to,
    const std::byte* from,
    std::uint8_t width,
    Mask active,
    bool negated) {
  if (width == 0) {
    Mask old = 0;
    Mask bits = 0;
    std::memcpy(&old, to, sizeof(old));
    std::memcpy(&bits, from, sizeof(bits));
    old = (old & ~active) | ((negated ? ~bits : bits) & active);
    std::memcpy(to, &old, sizeof(old));
    return;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int at = __builtin_ctz(left) * width;
    std::memcpy(to + at, from + at, width);
  }
}

} // namespace

Mask members_of(Warp& warp, const Control& control, Mask active) {
  if (control.members == kNoSlot) {
    return kAllLanes;
  }
  const Mask* masks = lanes<Mask>(warp, control.members);
  if ((control.members & kConstantBit) != 0) {
    return masks[0];
  }
  Mask members = 0;
  for (Mask left = active; left != 0; left &= left - 1) {
    members |= masks[__builtin_ctz(left)];
  }
  return members;
}

bool meet(const Split& leader, const Split& split) {
  if (split.state != Split::State::kGathering) {
    return false;
  }
  if (split.pc == leader.pc && split.frame == leader.frame) {
    return true;
  }
  const Control& control = leader.frame->code->control_at(leader.pc);
  const Control& other = split.frame->code->control_at(split.pc);
  if (control.kind != other.kind) {
    return false;
  }
  return control.kind == ControlKind::kWarpBarrier
      ? (split.members & leader.members) != 0
      : control.handler == other.handler && control.members != kNoSlot &&
          split.members == leader.members;
}

Flow run_collective(
    Warp& warp,
    const Inst& inst,
    const Control& control,
    Mask active) {
  if (control.handler == nullptr) {
    return Flow::kNext;
  }
  if (control.members == kNoSlot || (control.members & kConstantBit) != 0) {
    return control.handler(warp, inst, active);
  }
  // The handler may overwrite the register with the masks.
  Mask members[kLanes];
  std::memcpy(members, lanes<Mask>(warp, control.members), sizeof(members));
  for (Mask left = active; left != 0;) {
    const Mask wanted = members[__builtin_ctz(left)];
    Mask group = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      group |= (members[lane] == wanted ? 1u : 0u) << lane;
    }
    group &= left;
    const Flow flow = control.handler(warp, inst, group);
    if (flow != Flow::kNext) {
      return flow;
    }
    left &= ~group;
  }
  return Flow::kNext;
}

Flow run_collective(Warp& warp, const std::vector<Split>& splits, Mask all) {
  constexpr std::size_t kRegister = kLanes * 8;
  alignas(64) std::byte registers[kOperands * kRegister] = {};
  const auto inst_of = [](const Split& split) -> const Inst& {
    return split.frame->code->instructions[split.pc];
  };
  const auto place_of = [&](const Split& split, int operand) {
    enter(warp, *split.frame);
    return lanes<std::byte>(warp, inst_of(split).operands[operand]);
  };
  Inst inst = inst_of(splits.front());
  inst.negated = 0;
  Control control = splits.front().frame->code->control_at(splits.front().pc);
  for (int k = kOperands - 1; k >= inst.destinations; --k) {
    if (inst.operands[k] == control.members) {
      control.members = static_cast<Slot>(k * kRegister);
      break;
    }
  }
  const auto for_each_operand = [&](const auto& visit) {
    for (const Split& split : splits) {
      const Inst& own = inst_of(split);
      for (int k = 0; k < kOperands; ++k) {
        if (own.operands[k] != kNoSlot) {
          visit(split, own, k, registers + k * kRegister, place_of(split, k));
        }
      }
    }
  };
  for_each_operand([&](const Split& split,
                       const Inst& own,
                       int k,
                       std::byte* here,
                       const std::byte* there) {
    inst.operands[k] = static_cast<Slot>(k * kRegister);
    copy_lanes(
        here, there, own.widths[k], split.active, (own.negated >> k & 1) != 0);
  });
  warp.bases[0] = registers;
  const Flow flow = run_collective(warp, inst, control, all);
  for_each_operand([&](const Split& split,
                       const Inst& own,
                       int k,
                       const std::byte* here,
                       std::byte* there) {
    if (k < own.destinations) {
      copy_lanes(there, here, own.widths[k], split.active, false);
    }
  });
  return flow;
}

} // namespace cudasim::engine
