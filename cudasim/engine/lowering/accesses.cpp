#include "cudasim/engine/lowering/accesses.h"

#include <algorithm>

#include "cudasim/engine/verify/vocabulary.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine {
namespace {

bool is_atomic(const ptx::Instruction& instruction) {
  return std::any_of(
      instruction.modifiers.begin(),
      instruction.modifiers.end(),
      [](const std::string& modifier) {
        return ptx::is_one_of(
            modifier, {"volatile", "relaxed", "acquire", "release", "mmio"});
      });
}

bool is_looked_at(const OperandShape& shape) {
  return shape.kind == OperandShape::Kind::kAddress &&
      (shape.reads || shape.writes) &&
      (shape.space == ptx::Space::kNone || shape.space == ptx::Space::kGlobal ||
       shape.space == ptx::Space::kShared);
}

} // namespace

std::vector<MemoryAccess> accesses_of(
    const ptx::Instruction& instruction,
    const Shape& shape,
    const std::vector<LoweredOperand>& operands) {
  std::vector<MemoryAccess> list;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const OperandShape& address = shape.operands[i];
    if (!is_looked_at(address)) {
      continue;
    }
    MemoryAccess access;
    access.kind = !address.writes ? MemoryAccess::Kind::kRead
        : !address.reads          ? MemoryAccess::Kind::kWrite
                                  : MemoryAccess::Kind::kReadWrite;
    access.space = address.space == ptx::Space::kShared
        ? MemoryAccess::Space::kShared
        : MemoryAccess::Space::kGeneric;
    access.atomic = (address.reads && address.writes) || is_atomic(instruction);
    access.warp_wide = shape.warp_wide;
    access.address = operands[i].first;
    access.address_width = operands[i].width;
    access.offset = operands[i].offset;
    access.size = address.size_operand < 0
        ? address.bytes
        : static_cast<std::uint32_t>(
              instruction
                  .operands[static_cast<std::size_t>(address.size_operand)]
                  .bits);
    access.lanes =
        address.lanes >= kLanes ? kAllLanes : (1u << address.lanes) - 1;
    if (address.lines != 0) {
      access.lines = address.lines;
      access.unit = static_cast<std::uint32_t>(ptx::size_of(address.type));
      access.parts = address.parts;
      if (operands.size() == shape.operands.size()) {
        access.distance_operand = operands.back().first;
      }
    } else if (
        access.kind == MemoryAccess::Kind::kWrite && i + 1 < operands.size() &&
        address.type != ptx::Type::kNone &&
        shape.operands[i + 1].type == address.type) {
      access.elements =
          static_cast<std::uint8_t>(std::max(1u, shape.operands[i + 1].vector));
      access.first_element = operands[i + 1].first;
    }
    list.push_back(access);
  }
  return list;
}

bool orders(const ptx::Instruction& instruction, const Shape& shape) {
  return shape.orders || has(instruction, "acquire") ||
      has(instruction, "acq_rel");
}

} // namespace cudasim::engine
