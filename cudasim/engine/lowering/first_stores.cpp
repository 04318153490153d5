#include "cudasim/engine/lowering/first_stores.h"

#include <algorithm>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/code/memory_access.h"

namespace cudasim::engine {
namespace {

bool has_plain(
    const Code& code,
    std::uint32_t instruction,
    MemoryAccess::Kind kind) {
  const auto found = code.accesses.find(instruction);
  return found != code.accesses.end() &&
      std::any_of(
             found->second.list.begin(),
             found->second.list.end(),
             [kind](const MemoryAccess& access) {
               return access.kind == kind && !access.atomic &&
                   access.space == MemoryAccess::Space::kGeneric;
             });
}

bool is_barrier(const Code& code, std::uint32_t instruction) {
  return instruction < code.control_of.size() &&
      code.instructions[instruction].run == control_instruction &&
      code.control_at(instruction).kind == ControlKind::kBarrier;
}

} // namespace

std::vector<std::uint32_t> first_stores(
    const Code& code,
    const ControlFlowGraph& graph,
    const std::vector<bool>& common) {
  // Whether a load can be behind a thread that is at the beginning of a block.
  std::vector<bool> loaded(graph.blocks.size(), false);
  std::vector<std::uint32_t> stores;
  for (bool changed = true; changed;) {
    changed = false;
    stores.clear();
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
      bool after_load = loaded[i];
      for (auto at = graph.blocks[i].begin; at < graph.blocks[i].end; ++at) {
        if (is_barrier(code, at)) {
          after_load = false;
        } else if (
            common[at] && has_plain(code, at, MemoryAccess::Kind::kRead)) {
          after_load = true;
        } else if (
            after_load && has_plain(code, at, MemoryAccess::Kind::kWrite)) {
          stores.push_back(at);
        }
      }
      for (const std::uint32_t successor : graph.blocks[i].successors) {
        changed = changed || (after_load && !loaded[successor]);
        loaded[successor] = loaded[successor] || after_load;
      }
    }
  }
  return stores;
}

std::vector<bool> common_instructions(
    const std::vector<std::uint32_t>& threads,
    const std::vector<Access>& accesses,
    std::size_t registers) {
  std::vector<bool> depends(registers, false);
  for (const std::uint32_t reg : threads) {
    depends[reg] = true;
  }
  const auto any_depends = [&](auto first, auto last) {
    return std::any_of(
        first, last, [&](std::uint32_t reg) { return depends[reg]; });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Access& access : accesses) {
      if (any_depends(access.reads.begin(), access.reads.end())) {
        for (const std::uint32_t reg : access.writes) {
          changed = changed || !depends[reg];
          depends[reg] = true;
        }
      }
    }
  }
  std::vector<bool> common;
  for (const Access& access : accesses) {
    // Whether a guard is set says nothing about the address.
    const auto first = access.reads.begin() + (access.guarded ? 1 : 0);
    common.push_back(!any_depends(first, access.reads.end()));
  }
  return common;
}

} // namespace cudasim::engine
