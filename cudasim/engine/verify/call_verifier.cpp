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
        at_(instruction.location) {}

  void verify() {
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
    passes(call_.results, function->results, "results");
    passes(call_.arguments, function->parameters, "arguments");
    const Builtin builtin = builtin_named(function->name);
    if (builtin != Builtin::kNone && !function->has_body) {
      verify_builtin(*function, builtin);
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
          binding.variable == nullptr) {
        continue; // a register or a number: lowering says what it has not
      }
      if (binding.variable->size() != formal[i].size() ||
          alignment_of(*binding.variable) < alignment_of(formal[i])) {
        refuse(
            module_,
            actual[i].location,
            text_of(actual[i]),
            "a variable of " + std::to_string(formal[i].size()) +
                " bytes, aligned to " +
                std::to_string(alignment_of(formal[i])));
      }
    }
  }

  /// The functions that the device runtime has itself read what their
  /// declarations say they are given.
  void verify_builtin(const ptx::Function& function, Builtin builtin) const {
    const std::size_t wide = 8;
    std::vector<std::size_t> parameters;
    std::size_t result = 0;
    switch (builtin) {
      case Builtin::kPrint:
        parameters = {wide, wide};
        result = 4;
        break;
      case Builtin::kAssert:
        parameters = {wide, wide, 4, wide, wide};
        break;
      case Builtin::kMalloc:
        parameters = {wide};
        result = wide;
        break;
      default:
        parameters = {wide};
        break;
    }
    bool fits = function.parameters.size() == parameters.size() &&
        function.results.size() == (result == 0 ? 0 : 1);
    for (std::size_t i = 0; fits && i < parameters.size(); ++i) {
      fits = function.parameters[i].size() == parameters[i];
    }
    if (fits && result != 0) {
      fits = function.results[0].size() == result;
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
