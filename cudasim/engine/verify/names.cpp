#include "cudasim/engine/verify/names.h"

#include "cudasim/engine/verify/complaint.h"

namespace cudasim::engine {

using ptx::Space;
using ptx::Statement;

Names::Names(const ptx::Module& module, const ptx::Function& function)
    : module_(module), function_(function) {
  open();
  std::uint32_t ordinal = 0;
  for (const Statement& statement : function.body) {
    switch (statement.kind) {
      case Statement::Kind::kScopeBegin:
        open();
        break;
      case Statement::Kind::kScopeEnd:
        scope_ = scope_->parent();
        break;
      case Statement::Kind::kLabel:
        if (!scope_->declare_label(statement.label, ordinal)) {
          refuse(
              module, statement.location, statement.label, "each label once");
        }
        break;
      case Statement::Kind::kBranchTargets:
      case Statement::Kind::kCallTargets:
      case Statement::Kind::kCallPrototype:
        if (!labels_.emplace(scope_, statement.label).second) {
          refuse(
              module, statement.location, statement.label, "each label once");
        }
        lists_[statement.label] = &statement;
        break;
      case Statement::Kind::kInstruction:
        ++ordinal;
        break;
      default:
        break;
    }
  }
  scope_ = scopes_.front().get();
  next_ = 1;
  for (const auto* list : {&function.results, &function.parameters}) {
    for (const ptx::Variable& variable : *list) {
      declare_variable(variable, true);
    }
  }
}

void Names::open() {
  // The pass that finds labels makes the scopes, in order.
  if (next_ == scopes_.size()) {
    scopes_.push_back(std::make_unique<Scope>(scope_));
  }
  scope_ = scopes_[next_++].get();
}

const Statement* Names::list(const std::string& label) const {
  const auto found = lists_.find(label);
  return found == lists_.end() ? nullptr : found->second;
}

void Names::declare(
    const std::string& name,
    ptx::Location at,
    Binding binding) {
  if (!scope_->declare(name, binding)) {
    refuse(module_, at, name, "each name once in a scope");
  }
}

void Names::declare_variable(const ptx::Variable& variable, bool is_parameter) {
  Binding binding;
  binding.type = variable.type;
  binding.variable = &variable;
  binding.is_formal = is_parameter;
  switch (variable.space) {
    case Space::kShared:
      binding.kind = Binding::Kind::kShared;
      break;
    case Space::kLocal:
    case Space::kParam:
      binding.kind = is_parameter && function_.is_entry
          ? Binding::Kind::kKernelParameter
          : Binding::Kind::kLocal;
      break;
    default:
      // .global and .const in a body: nothing here has them.
      refuse(
          module_,
          variable.location,
          variable.name,
          "a variable in .local, .param or .shared");
  }
  declare(variable.name, variable.location, binding);
}

void Names::pass(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kScopeBegin:
      open();
      break;
    case Statement::Kind::kScopeEnd:
      scope_ = scope_->parent();
      break;
    case Statement::Kind::kRegisters: {
      const ptx::RegisterDeclaration& declared = *statement.registers;
      Binding binding;
      binding.index = registers_;
      binding.type = declared.type;
      binding.vector = declared.vector;
      if (declared.count == 0) {
        ++registers_;
        declare(declared.name, declared.location, binding);
        break;
      }
      if (!scope_->declare_range(declared.name, declared.count, binding)) {
        refuse(
            module_,
            declared.location,
            declared.name,
            "each name once in a scope");
      }
      registers_ += declared.count;
      break;
    }
    case Statement::Kind::kVariable:
      declare_variable(*statement.variable, false);
      break;
    default:
      break;
  }
}

} // namespace cudasim::engine
