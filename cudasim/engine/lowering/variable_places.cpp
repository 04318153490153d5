#include "cudasim/engine/lowering/variable_places.h"

#include <algorithm>

#include "cudasim/engine/code/alignment.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {

using ptx::Space;

VariablePlaces::VariablePlaces(
    const KernelLowering& kernel,
    const ptx::Function& function,
    Code& code)
    : kernel_(kernel), function_(function), code_(code) {
  place_parameters();
}

void VariablePlaces::place_parameters() {
  if (function_.is_entry) {
    std::uint64_t offset = 0;
    for (const ptx::Variable& parameter : function_.parameters) {
      offset = align_up(offset, alignment_of(parameter));
      offsets_[&parameter] = offset;
      offset += parameter.size();
    }
    return;
  }
  for (const auto* list : {&function_.results, &function_.parameters}) {
    for (const ptx::Variable& variable : *list) {
      place(variable);
      const auto at = static_cast<std::uint32_t>(offsets_[&variable]);
      const auto size = static_cast<std::uint32_t>(variable.size());
      if (list == &function_.results) {
        code_.results.push_back({at, 0, size});
      } else {
        code_.parameters.push_back({0, at, size});
      }
    }
  }
}

void VariablePlaces::place(const ptx::Variable& variable) {
  if (variable.space == Space::kShared) {
    offsets_[&variable] =
        kernel_.shared_offsets.at(function_.name + "/" + variable.name);
    return;
  }
  const std::uint64_t alignment =
      std::max<std::uint64_t>(8, alignment_of(variable));
  local_top_ = align_up(local_top_, alignment);
  offsets_[&variable] = local_top_;
  local_top_ += variable.size();
  // A frame's size tells how it is aligned (frame_alignment).
  local_alignment_ =
      std::max(local_alignment_, std::min(alignment, kMostAlignment));
  code_.local_bytes =
      align_up(std::max(code_.local_bytes, local_top_), local_alignment_);
}

void VariablePlaces::pass(const ptx::Statement& statement) {
  switch (statement.kind) {
    case ptx::Statement::Kind::kScopeBegin:
      local_tops_.push_back(local_top_);
      break;
    case ptx::Statement::Kind::kScopeEnd:
      // What a scope had in local memory can be used again after it.
      local_top_ = local_tops_.back();
      local_tops_.pop_back();
      break;
    case ptx::Statement::Kind::kVariable:
      place(*statement.variable);
      break;
    default:
      break;
  }
}

} // namespace cudasim::engine
