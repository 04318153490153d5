// What is outside of bodies: names, sizes, initial values, declarations.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cudasim/engine/targets/requirements.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/limits.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {
namespace {

using ptx::Function;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using ptx::Variable;

void verify_version(const ptx::Module& module) {
  if (!targets_are_strict()) {
    return;
  }
  const PtxVersion version{module.version_major, module.version_minor};
  if (!is_version(version)) {
    refuse(
        module,
        module.version_location,
        version.text(),
        "a version of PTX up to " + kNewestPtx.text());
  }
  const Target* target = find_target(module.target);
  if (target == nullptr) {
    refuse(
        module,
        module.target_location,
        module.target,
        "a target such as sm_80");
  }
  if (version < target->least) {
    refuse(
        module,
        module.target_location,
        module.target,
        "a target that PTX " + version.text() + " has; this one needs " +
            target->least.text());
  }
}

class ModuleVerifier {
 public:
  explicit ModuleVerifier(const ptx::Module& module) : module_(module) {}

  void verify() {
    for (const auto& function : module_.functions) {
      verify_function(*function);
    }
    for (const Variable& variable : module_.variables) {
      verify_variable(variable);
    }
    // A linker's result may name what stands behind.
    for (const Variable& variable : module_.variables) {
      for (const Operand& value : variable.initializer) {
        verify_value(variable, value);
      }
    }
  }

 private:
  [[noreturn]] void fail(const Variable& variable, const std::string& expected)
      const {
    refuse(module_, variable.location, variable.name, expected);
  }
  [[noreturn]] void fail(const Function& function, const std::string& expected)
      const {
    refuse(module_, function.location, function.name, expected);
  }

  // ---- variables

  void verify_variable(const Variable& variable) {
    const auto [found, is_new] =
        variables_.try_emplace(variable.name, &variable);
    if (!is_new) {
      verify_again(*found->second, variable);
      if (found->second->is_extern) {
        found->second = &variable;
      }
    }
    if (functions_.count(variable.name) != 0) {
      fail(variable, "another name than that of a function");
    }
    if (variable.type == Type::kPred) {
      fail(variable, "a predicate in a register only");
    }
    if (variable.size() == 0 && !variable.is_extern) {
      fail(variable, "an array with a size, or '.extern'");
    }
    if (!variable.initializer.empty() &&
        (variable.is_extern || variable.space == Space::kShared)) {
      fail(
          variable,
          variable.is_extern ? "no initial value of what is elsewhere"
                             : "no initial value in this state space");
    }
    if (variable.is_managed && variable.space != Space::kGlobal) {
      fail(variable, "'.managed' in .global only");
    }
    if (variable.space == Space::kConst) {
      constant_ = align_up(constant_, alignment_of(variable)) + variable.size();
      if (constant_ > kMostConstant) {
        fail(
            variable,
            "at most " + std::to_string(kMostConstant) +
                " bytes of constants in a module");
      }
    }
  }

  /// Of a name that is there already.
  void verify_again(const Variable& first, const Variable& second) const {
    if (!first.is_extern && !second.is_extern) {
      fail(second, "each variable once");
    }
    const bool is_static =
        !second.is_extern && !second.is_visible && !second.is_weak;
    if (is_static) {
      fail(second, "'.visible' or '.weak', as it is declared '.extern',");
    }
    const auto& a = first.dimensions;
    const auto& b = second.dimensions;
    const bool same_dimensions = a.size() == b.size() &&
        (a.empty() ||
         ((a[0] == b[0] || a[0] == 0 || b[0] == 0) &&
          std::equal(a.begin() + 1, a.end(), b.begin() + 1)));
    if (first.type != second.type || first.vector != second.vector ||
        !same_dimensions) {
      fail(second, "the type that it is declared with");
    }
  }

  void verify_value(const Variable& variable, const Operand& value) const {
    const std::string type = "." + std::string(ptx::name_of(variable.type));
    bool fits = false;
    switch (value.kind) {
      case Operand::Kind::kInteger:
        fits = is_integral(variable.type);
        break;
      case Operand::Kind::kFloat:
        fits = is_integral(variable.type)
            ? is_bits(variable.type)
            : ptx::size_of(variable.type) >= 4 && variable.type != Type::kF16x2;
        break;
      default:
        verify_name(variable, value);
        fits = variable.type == Type::kU32 || variable.type == Type::kU64 ||
            (value.bits != 0 && is_unsigned(variable.type));
        break;
    }
    if (!fits) {
      refuse(
          module_,
          value.location,
          text_of(value),
          "an initial value of type " + type);
    }
  }

  static bool is_unsigned(Type type) {
    return ptx::name_of(type)[0] == 'u';
  }

  void verify_name(const Variable& variable, const Operand& value) const {
    const auto found = variables_.find(value.name);
    const bool is_function = functions_.count(value.name) != 0;
    const bool is_placed = found != variables_.end() &&
        (found->second->space == Space::kGlobal ||
         found->second->space == Space::kConst);
    if (!is_placed && !(is_function && value.offset == 0)) {
      refuse(
          module_,
          value.location,
          value.name,
          "a variable or function, of which '" + variable.name +
              "' gets the address");
    }
  }

  // ---- functions

  void verify_function(const Function& function) {
    const auto [found, is_new] =
        functions_.try_emplace(function.name, &function);
    if (!is_new) {
      verify_again(*found->second, function);
      found->second = &function;
    }
    if (function.has_body && function.is_extern) {
      fail(function, "no '.extern', as it has a body,");
    }
    if (!function.has_body && !function.is_extern && !function.is_entry &&
        !module_.find(function.name)->has_body) {
      fail(function, "a body, or '.extern'");
    }
    if (function.is_noreturn && !function.results.empty()) {
      fail(function, "no '.noreturn', as it has results,");
    }
    if (function.results.size() > 1) {
      for (const Variable& result : function.results) {
        if (result.in_register.empty()) {
          fail(result, "several results in .reg, or one");
        }
      }
    }
    for (const Variable& result : function.results) {
      verify_parameter(result);
    }
    std::uint64_t bytes = 0;
    for (const Variable& parameter : function.parameters) {
      verify_parameter(parameter);
      if (function.is_entry && parameter.size() == 0) {
        fail(parameter, "an array with a size");
      }
      bytes = align_up(bytes, alignment_of(parameter)) + parameter.size();
      if (function.is_entry && bytes > kMostParameters) {
        fail(
            parameter,
            "at most " + std::to_string(kMostParameters) +
                " bytes of parameters");
      }
    }
  }

  void verify_parameter(const Variable& parameter) const {
    if (parameter.type == Type::kPred) {
      fail(parameter, "a predicate in a register only");
    }
    if (parameter.type == Type::kF16x2 && parameter.in_register.empty()) {
      fail(parameter, "another type in .param, such as .b32");
    }
  }

  /// Of a name that is there already.
  void verify_again(const Function& first, const Function& second) const {
    if (first.has_body) {
      fail(second, "each function once");
    }
    const bool is_plain =
        !second.is_extern && !second.is_visible && !second.is_weak;
    const bool same_linkage = first.is_extern == second.is_extern &&
        first.is_visible == second.is_visible &&
        first.is_weak == second.is_weak;
    if (first.is_entry != second.is_entry ||
        first.is_noreturn != second.is_noreturn ||
        !(same_linkage || (is_plain && !first.is_extern))) {
      fail(second, "what it is declared as");
    }
    if (!same_shapes(first.results, second.results) ||
        !same_shapes(first.parameters, second.parameters)) {
      fail(second, "the parameters and results that it is declared with");
    }
  }

  static bool same_shapes(
      const std::vector<Variable>& first,
      const std::vector<Variable>& second) {
    return std::equal(
        first.begin(),
        first.end(),
        second.begin(),
        second.end(),
        [](const Variable& a, const Variable& b) {
          return a.type == b.type && a.vector == b.vector &&
              a.dimensions == b.dimensions &&
              alignment_of(a) == alignment_of(b) &&
              a.in_register.empty() == b.in_register.empty();
        });
  }

  const ptx::Module& module_;
  std::uint64_t constant_ = 0;
  std::unordered_map<std::string_view, const Variable*> variables_;
  std::unordered_map<std::string_view, const Function*> functions_;
};

} // namespace

void verify_device(const ptx::Module& module, std::uint32_t capability) {
  const Target* target = find_target(module.target);
  if (targets_are_strict() && target != nullptr &&
      !target->runs_on(capability)) {
    refuse(
        module,
        module.target_location,
        module.target,
        "a target that a GPU of compute capability " +
            std::to_string(capability / 10) + "." +
            std::to_string(capability % 10) + " runs: compile for sm_" +
            std::to_string(capability) +
            ", or choose another model by CUDASIM_PROFILE "
            "(CUDASIM_PTX_TARGETS=lenient takes it)");
  }
}

void verify_module(const ptx::Module& module) {
  verify_version(module);
  ModuleVerifier(module).verify();
}

} // namespace cudasim::engine
