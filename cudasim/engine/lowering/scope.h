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
    kRegister, // `index`: the virtual register
    kLocal, // `offset` in the lane's local frame (.local, .param of a body)
    kKernelParameter, // `offset` in the parameter buffer
    kShared, // `offset` in the block's shared memory
  };
  Kind kind = Kind::kRegister;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;
  ptx::Type type = ptx::Type::kNone;
};

class Scope {
 public:
  explicit Scope(Scope* parent) : parent_(parent) {}

  void declare(const std::string& name, const Binding& binding) {
    names_[name] = binding;
  }
  /// Registers `name`0 to `name`count-1, from virtual register `first` on.
  void declare_range(
      const std::string& name,
      std::uint32_t count,
      std::uint32_t first,
      ptx::Type type) {
    ranges_[name] = {count, first, type};
  }
  void declare_label(const std::string& name, std::uint32_t instruction) {
    labels_[name] = instruction;
  }

  /// Looks here and then in the scopes around; false when it is nowhere.
  bool find(const std::string& name, Binding* binding) const;
  bool find_label(const std::string& name, std::uint32_t* instruction) const;
  Scope* parent() const {
    return parent_;
  }

 private:
  struct Range {
    std::uint32_t count;
    std::uint32_t first;
    ptx::Type type;
  };
  Scope* parent_;
  std::unordered_map<std::string, Binding> names_;
  std::unordered_map<std::string, Range> ranges_;
  std::unordered_map<std::string, std::uint32_t> labels_;
};

} // namespace cudasim::engine
