#include "cudasim/engine/verify/vocabulary.h"

#include <algorithm>

namespace cudasim::engine {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint64_t alignment_of(const ptx::Variable& variable) {
  const std::uint64_t natural =
      std::max<std::uint64_t>(1, ptx::size_of(variable.type)) * variable.vector;
  return std::max<std::uint64_t>(natural, variable.alignment);
}

std::uint32_t register_width(ptx::Type type) {
  return type == ptx::Type::kPred
      ? 0
      : std::max<std::uint32_t>(
            2, static_cast<std::uint32_t>(ptx::size_of(type)));
}

bool has(const ptx::Instruction& instruction, std::string_view modifier) {
  return std::find(
             instruction.modifiers.begin(),
             instruction.modifiers.end(),
             modifier) != instruction.modifiers.end();
}

bool moves_stack(std::string_view opcode) {
  return opcode == "alloca" || opcode == "stackrestore";
}

std::string text_of(const ptx::Instruction& instruction) {
  std::string text = instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) {
    text += "." + modifier;
  }
  return text;
}

} // namespace cudasim::engine
