#include "cudasim/engine/lowering/accesses.h"

#include "cudasim/engine/lowering/vocabulary.h"

namespace cudasim::engine {
namespace {

bool is_shared(const ptx::Instruction& instruction) {
  return has(instruction, "shared") || has(instruction, "shared::cta");
}

/// Bytes of one element, by the instruction's type.
std::uint32_t element_size(const ptx::Instruction& instruction) {
  for (auto modifier = instruction.modifiers.rbegin();
       modifier != instruction.modifiers.rend();
       ++modifier) {
    const ptx::Type type = ptx::type_named(*modifier);
    if (type != ptx::Type::kNone) {
      return static_cast<std::uint32_t>(ptx::size_of(type));
    }
  }
  return 0;
}

std::uint8_t element_count(const ptx::Instruction& instruction) {
  return has(instruction, "v4") ? 4 : has(instruction, "v2") ? 2 : 1;
}

} // namespace

MemoryAccess access_of(const ptx::Instruction& instruction) {
  MemoryAccess access;
  const std::string_view opcode = instruction.opcode;
  access.orders = is_one_of(opcode, {"fence", "membar"}) ||
      has(instruction, "acquire") || has(instruction, "acq_rel") ||
      has(instruction, "test_wait") || has(instruction, "try_wait");
  const bool elsewhere = has(instruction, "param") ||
      has(instruction, "param::func") || has(instruction, "param::entry") ||
      has(instruction, "local") || has(instruction, "const");
  if (elsewhere || !is_one_of(opcode, {"ld", "ldu", "st", "atom", "red"})) {
    return access;
  }
  access.elements = element_count(instruction);
  access.size = element_size(instruction) * access.elements;
  if (access.size == 0) {
    return access;
  }
  access.space = is_shared(instruction) ? MemoryAccess::Space::kShared
                                        : MemoryAccess::Space::kGeneric;
  if (opcode == "st") {
    access.kind = MemoryAccess::Kind::kWrite;
  } else if (opcode == "atom" || opcode == "red") {
    access.kind = MemoryAccess::Kind::kReadWrite;
    access.atomic = true;
    access.address = opcode == "atom" ? 1 : 0;
  } else {
    access.kind = MemoryAccess::Kind::kRead;
    access.address = access.elements;
  }
  for (const char* order :
       {"volatile", "relaxed", "acquire", "release", "mmio"}) {
    access.atomic |= has(instruction, order);
  }
  return access;
}

} // namespace cudasim::engine
