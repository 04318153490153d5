#include "cudasim/engine/verify/call_verifier.h"

#include "cudasim/engine/code/builtin.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {
namespace {

using ptx::Operand;
using ptx::Variable;
using Kind = ptx::Operand::Kind;

class CallVerifier {
 public:
  CallVerifier(
      const ptx::Module& module,
      const Names& names,
      const ptx::Instruction& instruction)
      : module_(module),
        names_(names),
        call_(*instruction.call),
        modifiers_(instruction.modifiers),
        at_(instruction.location) {}

  void verify() {
    for (const std::string& modifier : modifiers_) {
      if (modifier != "uni") {
        refuse(module_, at_, "." + modifier, "no modifier but '.uni'");
      }
    }
    Binding target;
    if (names_.find(call_.target.name, &target)) {
      verify_indirect(target);
      return;
    }
    const ptx::Function* function = call_.target.kind == Kind::kSymbol ||
            call_.target.kind == Kind::kRegister
        ? module_.find(call_.target.name)
        : nullptr;
    if (function == nullptr || function->is_entry) {
      refuse(module_, at_, text_of(call_.target), "a function to call");
    }
    if (!call_.prototype.empty()) {
      refuse(
          module_,
          at_,
          call_.prototype,
          "no prototype to call a function by name");
    }
    passes(call_.results, function->results, "results");
    passes(call_.arguments, function->parameters, "arguments");
    const BuiltinFunction* const builtin = find_builtin(function->name);
    if (builtin != nullptr && !function->has_body) {
      verify_builtin(*function, *builtin);
    }
  }

 private:
  void verify_indirect(const Binding& target) const {
    if (target.kind != Binding::Kind::kRegister || !is_integral(target.type) ||
        ptx::size_of(target.type) != 8) {
      refuse(
          module_,
          at_,
          text_of(call_.target),
          "a function, or a register of 64 bits with the address of one");
    }
    const ptx::Statement* list = names_.list(call_.prototype);
    if (list == nullptr) {
      refuse(
          module_,
          at_,
          text_of(call_.target),
          "an indirect call to name its .callprototype or .calltargets");
    }
    if (list->kind == ptx::Statement::Kind::kCallPrototype) {
      passes(call_.results, list->results, "results");
      passes(call_.arguments, list->parameters, "arguments");
      return;
    }
    for (const std::string& name : list->targets) {
      const ptx::Function* function = module_.find(name);
      if (function == nullptr || function->is_entry) {
        refuse(module_, list->location, name, "a function to call");
      }
      passes(call_.results, function->results, "results");
      passes(call_.arguments, function->parameters, "arguments");
    }
  }

  void passes(
      const std::vector<Operand>& actual,
      const std::vector<Variable>& formal,
      const char* what) const {
    if (actual.size() != formal.size()) {
      refuse(
          module_,
          at_,
          text_of(call_.target),
          std::to_string(formal.size()) + " " + what + ", not " +
              std::to_string(actual.size()));
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
      Binding binding;
      if (!names_.find(actual[i].name, &binding) ||
          binding.variable == nullptr || binding.is_formal ||
          binding.variable->space != ptx::Space::kParam ||
          !fits(*binding.variable, formal[i])) {
        refuse(
            module_,
            actual[i].location,
            text_of(actual[i]),
            "a variable of " + std::to_string(formal[i].size()) +
                " bytes in .param, of type ." +
                std::string(ptx::name_of(formal[i].type)) + ", aligned to " +
                std::to_string(alignment_of(formal[i])));
      }
    }
  }

  static bool fits(const Variable& actual, const Variable& formal) {
    if (formal.dimensions.empty() || actual.dimensions.empty()) {
      return formal.dimensions.empty() && actual.dimensions.empty() &&
          register_fits(formal.type, actual.type, false) &&
          actual.vector == formal.vector &&
          alignment_of(actual) == alignment_of(formal);
    }
    // "p[]" stands for what a function with any number of arguments is given.
    return (formal.size() == 0 || actual.size() == formal.size()) &&
        actual.dimensions.size() == formal.dimensions.size() &&
        is_float(actual.type) == is_float(formal.type) &&
        alignment_of(actual) == alignment_of(formal);
  }

  /// The functions that the device runtime has itself read what their
  /// declarations say they are given.
  void verify_builtin(
      const ptx::Function& function,
      const BuiltinFunction& builtin) const {
    const auto& parameters = builtin.parameters;
    // A declaration may leave the result out.
    bool fits = function.parameters.size() == parameters.size() &&
        function.results.size() <= (builtin.result == 0 ? 0 : 1);
    for (std::size_t i = 0; fits && i < parameters.size(); ++i) {
      fits = function.parameters[i].size() == parameters[i];
    }
    if (fits && !function.results.empty()) {
      fits = function.results[0].size() == builtin.result;
    }
    if (!fits) {
      refuse(
          module_,
          function.location,
          function.name,
          "the parameters that the device runtime's function has");
    }
  }

  const ptx::Module& module_;
  const Names& names_;
  const ptx::Instruction::Call& call_;
  const std::vector<std::string>& modifiers_;
  ptx::Location at_;
};

} // namespace

void verify_call(
    const ptx::Module& module,
    const Names& names,
    const ptx::Instruction& instruction) {
  CallVerifier(module, names, instruction).verify();
}

} // namespace cudasim::engine
