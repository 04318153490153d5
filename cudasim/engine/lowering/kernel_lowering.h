// Lowers a kernel with the functions that it calls: their code, and what they
// have in shared memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cudasim/engine/code/kernel.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Where the variables of a module are on the device: the address of a .global
/// or .const variable, 0 for a name that is none.
using VariableAddress = std::function<std::uint64_t(std::string_view name)>;

/// What all functions of a kernel share.
class KernelLowering {
 public:
  KernelLowering(ptx::Module& module, const VariableAddress& address_of)
      : module(module), address_of(address_of) {}

  std::unique_ptr<Kernel> lower(ptx::Function& entry);
  /// The code of a function, which is lowered later where it is not yet:
  /// functions call each other, and one by one the stack stays small.
  const Code* code_of(const std::string& name);
  /// Raises a LoweringError that names the place in a function.
  [[noreturn]] void fail(
      const ptx::Function& function,
      ptx::Location location,
      const std::string& what) const;

  ptx::Module& module;
  const VariableAddress& address_of;
  std::map<std::string, std::uint64_t> shared_offsets;
  std::uint64_t static_shared = 0;
  std::unique_ptr<Kernel> kernel;

 private:
  void lower_all();
  void place_shared(ptx::Function& function);
  void place_variable(const ptx::Variable& variable, const std::string& name);
  void place_operand(const ptx::Operand& operand);
  void count_constant(const ptx::Variable& variable);
  ptx::Function* definition(const std::string& name);

  std::map<std::string, const Code*> codes_;
  std::vector<std::pair<ptx::Function*, Code*>> to_lower_;
  std::set<std::string> placed_functions_;
  std::vector<ptx::Function*> to_place_;
  std::set<std::string> dynamic_shared_;
  std::set<std::string> constants_; // that are counted
  bool calls_addresses_ = false;
  /// Any of a module's functions can be called by address; few are. These are
  /// lowered as they are.
  std::set<const ptx::Function*> by_address_;
};

/// Lowers a kernel. The bodies of the functions it reaches are parsed.
/// @throws LoweringError, ptx::ParseError
std::unique_ptr<Kernel> lower_kernel(
    ptx::Module& module,
    ptx::Function& entry,
    const VariableAddress& address_of);

} // namespace cudasim::engine
