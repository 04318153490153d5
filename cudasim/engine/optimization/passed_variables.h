// How a body uses the variables that it passes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine::optimization {

/// Knows the variables of which a callee can have the original, as nobody else
/// looks at it.
class PassedVariables {
 public:
  PassedVariables(const ptx::Module& module, const ptx::Function& function);

  /// Whether it is written just before the one call, and not read.
  bool is_argument(const ptx::Variable* variable) const;
  /// Whether only the one call writes it.
  bool is_result(const ptx::Variable* variable) const;

 private:
  struct Uses {
    std::size_t calls = 0;
    std::size_t stores = 0;
    std::size_t others = 0;
    std::set<std::uint32_t> segments;
  };

  Uses* uses_of(const Names& names, const ptx::Operand& operand);
  void note(
      const Names& names,
      const ptx::Operand& operand,
      bool stores,
      bool always,
      std::uint32_t segment);
  void note_call(
      const Names& names,
      const ptx::Operand& operand,
      std::uint32_t segment);

  std::map<const ptx::Variable*, Uses> uses_;
};

} // namespace cudasim::engine::optimization
