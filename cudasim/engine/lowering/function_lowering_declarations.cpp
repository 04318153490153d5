// Lowering of scopes, labels, registers and variables.
#include "cudasim/engine/lowering/function_lowering.h"

#include <algorithm>

#include "cudasim/engine/lowering/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

void FunctionLowering::open_scope() {
  // The pass that finds labels makes the scopes, in order.
  if (next_scope_ == scopes_.size()) {
    scopes_.push_back(std::make_unique<Scope>(scope_));
  }
  scope_ = scopes_[next_scope_++].get();
  local_tops_.push_back(local_top_);
}

void FunctionLowering::close_scope() {
  scope_ = scope_->parent();
  // What a scope had in local memory can be used again after it.
  local_top_ = local_tops_.back();
  local_tops_.pop_back();
}

void FunctionLowering::find_labels() {
  open_scope();
  std::uint32_t index = 0;
  for (const ptx::Statement& statement : function_.body) {
    switch (statement.kind) {
      case ptx::Statement::Kind::kScopeBegin:
        open_scope();
        break;
      case ptx::Statement::Kind::kScopeEnd:
        close_scope();
        break;
      case ptx::Statement::Kind::kLabel:
        scope_->declare_label(statement.label, index);
        break;
      case ptx::Statement::Kind::kBranchTargets:
        branch_targets_[statement.label] = statement.targets;
        break;
      case ptx::Statement::Kind::kInstruction:
        ++index;
        break;
      default:
        break;
    }
  }
  close_scope();
  next_scope_ = 0;
}

void FunctionLowering::declare_parameters() {
  std::uint64_t offset = 0;
  for (const ptx::Variable& parameter : function_.parameters) {
    if (function_.is_entry) {
      offset = align_up(offset, alignment_of(parameter));
      scope_->declare(
          parameter.name,
          {Binding::Kind::kKernelParameter, 0, offset, parameter.type});
      offset += parameter.size();
    }
  }
  if (function_.is_entry) {
    return;
  }
  const auto place = [this](const ptx::Variable& variable, bool is_result) {
    if (variable.space == Space::kReg) {
      fail(variable.location, "parameters in registers are not supported");
    }
    local_top_ = align_up(
        local_top_, std::max<std::uint64_t>(8, alignment_of(variable)));
    scope_->declare(
        variable.name, {Binding::Kind::kLocal, 0, local_top_, variable.type});
    const auto at = static_cast<std::uint32_t>(local_top_);
    const auto size = static_cast<std::uint32_t>(variable.size());
    if (is_result) {
      code_.results.push_back({at, 0, size});
    } else {
      code_.parameters.push_back({0, at, size});
    }
    local_top_ += variable.size();
  };
  for (const ptx::Variable& result : function_.results) {
    place(result, true);
  }
  for (const ptx::Variable& parameter : function_.parameters) {
    place(parameter, false);
  }
  code_.local_bytes = std::max(code_.local_bytes, local_top_);
}

void FunctionLowering::declare(const ptx::Statement& statement) {
  if (statement.kind == ptx::Statement::Kind::kRegisters) {
    const ptx::RegisterDeclaration& declaration = *statement.registers;
    if (declaration.vector != 1) {
      fail(declaration.location, "vector registers are not supported");
    }
    if (declaration.count == 0) {
      scope_->declare(
          declaration.name,
          {Binding::Kind::kRegister,
           new_register(declaration.type),
           0,
           declaration.type});
      return;
    }
    const auto first = static_cast<std::uint32_t>(registers_.size());
    for (std::uint32_t i = 0; i < declaration.count; ++i) {
      new_register(declaration.type);
    }
    scope_->declare_range(
        declaration.name, declaration.count, first, declaration.type);
    return;
  }
  const ptx::Variable& variable = *statement.variable;
  if (variable.space == Space::kShared) {
    scope_->declare(
        variable.name,
        {Binding::Kind::kShared,
         0,
         kernel_.shared_offsets.at(function_.name + "/" + variable.name),
         variable.type});
    return;
  }
  if (variable.space != Space::kLocal && variable.space != Space::kParam) {
    fail(
        variable.location,
        "a variable of this space is not supported in a body");
  }
  local_top_ =
      align_up(local_top_, std::max<std::uint64_t>(8, alignment_of(variable)));
  scope_->declare(
      variable.name, {Binding::Kind::kLocal, 0, local_top_, variable.type});
  local_top_ += variable.size();
  code_.local_bytes = std::max(code_.local_bytes, local_top_);
}

} // namespace cudasim::engine
