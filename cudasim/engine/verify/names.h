// The names that a body declares, scope by scope.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/verify/scope.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Follows the statements of a body in their order and knows which names hold
/// where. Labels are known from the beginning: a branch may go forward.
class Names {
 public:
  /// @throws ptx::ParseError for a label that is there twice.
  Names(const ptx::Module& module, const ptx::Function& function);

  /// Takes the next statement: a scope begins or ends, something is declared.
  /// @throws ptx::ParseError for a name that is there twice.
  void pass(const ptx::Statement& statement);

  /// What a name of the body stands for; false when it is none.
  bool find(const std::string& name, Binding* binding) const {
    return scope_->find(name, binding);
  }
  /// The ordinal of the instruction behind a label.
  bool find_label(const std::string& name, std::uint32_t* instruction) const {
    return scope_->find_label(name, instruction);
  }
  /// The statement of that label with .branchtargets, .callprototype or
  /// .calltargets; null when there is none.
  const ptx::Statement* list(const std::string& label) const;
  /// How many registers are declared so far.
  std::uint64_t registers() const {
    return registers_;
  }

 private:
  void open();
  void declare(const std::string& name, ptx::Location at, Binding binding);
  void declare_variable(const ptx::Variable& variable, bool is_parameter);

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::size_t next_ = 0;
  Scope* scope_ = nullptr;
  std::map<std::string, const ptx::Statement*> lists_;
  std::set<std::pair<const Scope*, std::string>> labels_; // of lists
  std::uint64_t registers_ = 0;
};

} // namespace cudasim::engine
