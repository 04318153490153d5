// Names of a function's body: registers, variables and labels, with the nested
// scopes that "{" and "}" make.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// What a name stands for.
struct Binding {
  enum class Kind : std::uint8_t {
    kRegister, // `index`: which of those that the function declares
    kLocal, // in the lane's local memory (.local, .param of a body)
    kKernelParameter,
    kShared, // in the block's shared memory
  };
  Kind kind = Kind::kRegister;
  std::uint64_t index = 0;
  ptx::Type type = ptx::Type::kNone;
  std::uint32_t vector = 1; // of a register with .v2 or .v4
  std::size_t digits = 0; // that say which register of a range it is
  const ptx::Variable* variable = nullptr; // of all but registers
  bool is_formal = false; // a parameter or result of the function itself
};

class Scope {
 public:
  explicit Scope(Scope* parent) : parent_(parent) {}

  /// Each returns false, and does nothing, when the name is there already.
  bool declare(const std::string& name, const Binding& binding) {
    return !is_in_range(name) && names_.try_emplace(name, binding).second;
  }
  /// Registers `name`0 to `name`count-1, from register `first` on, which is
  /// like the others.
  bool declare_range(
      const std::string& name,
      std::uint32_t count,
      const Binding& first);
  bool declare_label(const std::string& name, std::uint32_t instruction) {
    return labels_.try_emplace(name, instruction).second;
  }

  /// Looks here and then in the scopes around; false when it is nowhere.
  bool find(const std::string& name, Binding* binding) const;
  bool find_label(const std::string& name, std::uint32_t* instruction) const;
  Scope* parent() const {
    return parent_;
  }

 private:
  bool is_in_range(const std::string& name) const;

  struct Range {
    std::uint32_t count;
    Binding first;
  };
  Scope* parent_;
  std::unordered_map<std::string, Binding> names_;
  std::unordered_map<std::string, Range> ranges_;
  std::unordered_map<std::string, std::uint32_t> labels_;
};

} // namespace cudasim::engine
