// Where the parameters and variables of a function are.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Gives the variables of a function offsets: in the kernel's parameters, in
/// shared memory, or in the lane's local frame.
class VariablePlaces {
 public:
  /// Places the parameters.
  /// @param code is told what it needs of local memory, and where the
  /// parameters and results of a call are.
  /// @throws LoweringError
  VariablePlaces(
      const KernelLowering& kernel,
      const ptx::Function& function,
      Code& code);

  /// Goes past a statement of the body: places what it declares.
  void pass(const ptx::Statement& statement);

  /// Where a variable of the function, which has been passed, is.
  std::uint64_t offset_of(const ptx::Variable& variable) const {
    return offsets_.at(&variable);
  }

 private:
  void place_parameters();
  void place(const ptx::Variable& variable);

  const KernelLowering& kernel_;
  const ptx::Function& function_;
  Code& code_;
  std::unordered_map<const ptx::Variable*, std::uint64_t> offsets_;
  std::vector<std::uint64_t> local_tops_;
  std::uint64_t local_top_ = 0;
  std::uint64_t local_alignment_ = 1;
};

} // namespace cudasim::engine
