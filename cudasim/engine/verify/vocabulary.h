// Small questions about PTX that the verifier and the lowering ask.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment);

/// Bytes: what the declaration says, at least the type's own.
std::uint64_t alignment_of(const ptx::Variable& variable);

/// Bytes of a register of this type in one lane; 0 for a predicate.
std::uint32_t register_width(ptx::Type type);

bool has(const ptx::Instruction& instruction, std::string_view modifier);

/// Whether it changes what a lane has of the memory for alloca.
bool moves_stack(std::string_view opcode);

/// Opcode and modifiers as in the text.
std::string text_of(const ptx::Instruction& instruction);

} // namespace cudasim::engine
