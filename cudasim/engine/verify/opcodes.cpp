#include "cudasim/engine/verify/opcodes.h"

#include <algorithm>
#include <string>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine {

bool is_opcode(std::string_view name) {
  return forms_of(name) != Forms::kNone ||
      // What PTX has and the families have not. Of call no row could say what
      // it passes.
      ptx::is_one_of(name, {"brkpt",    "call",       "istypep", "ldu",
                            "multimem", "setmaxnreg", "tcgen05", "tensormap",
                            "vabsdiff", "vadd",       "vadd2",   "vadd4",
                            "vavrg2",   "vavrg4",     "vmad",    "vmax",
                            "vmax2",    "vmax4",      "vmin",    "vmin2",
                            "vmin4",    "vset",       "vset2",   "vset4",
                            "vsub",     "vsub2",      "vsub4",   "wgmma"});
}

namespace {

/// What newer devices have: clusters, wider vectors, vectors in a register.
bool is_of_newer_devices(const std::string& modifier) {
  return ptx::is_one_of(
             modifier, {"v8", "async", "bulk", "relu", "s8x4", "u8x4"}) ||
      modifier.rfind("shared::cl", 0) == 0;
}

bool is_of_newer_devices(
    const ptx::Instruction& instruction,
    const std::vector<ptx::Type>& types) {
  const auto& modifiers = instruction.modifiers;
  const bool has_four =
      std::find(modifiers.begin(), modifiers.end(), "v4") != modifiers.end();
  return (has_four && !types.empty() && ptx::size_of(types.back()) == 8) ||
      std::any_of(modifiers.begin(), modifiers.end(), [](const auto& modifier) {
           return is_of_newer_devices(modifier);
         });
}

} // namespace

bool has_all_forms(
    const ptx::Instruction& instruction,
    const std::vector<ptx::Type>& types) {
  switch (forms_of(instruction.opcode)) {
    case Forms::kAll:
      return true;
    case Forms::kIntegers:
      return !types.empty() && !is_of_newer_devices(instruction, types) &&
          std::all_of(types.begin(), types.end(), is_integral);
    case Forms::kOlder:
      return !is_of_newer_devices(instruction, types);
    default:
      return false;
  }
}

namespace {

/// The modifiers of an access, by what they say.
struct AccessModifiers {
  std::string order;
  std::string scope;
  std::string cache;
  std::string space; // empty: generic
  bool is_read_only = false;
  bool has_level = false; // L1::evict_last and the like
  bool is_repeated = false;

  explicit AccessModifiers(const ptx::Instruction& instruction) {
    const auto note = [&](std::string& what, const std::string& modifier) {
      is_repeated |= !what.empty();
      what = modifier;
    };
    for (const std::string& modifier : instruction.modifiers) {
      if (ptx::is_one_of(
              modifier,
              {"weak",
               "volatile",
               "relaxed",
               "acquire",
               "release",
               "acq_rel"})) {
        note(order, modifier);
      } else if (ptx::is_one_of(modifier, {"cta", "cluster", "gpu", "sys"})) {
        note(scope, modifier);
      } else if (ptx::is_one_of(
                     modifier, {"ca", "cg", "cs", "cv", "lu", "wb", "wt"})) {
        note(cache, modifier);
      } else if (ptx::is_one_of(
                     std::string_view(modifier).substr(0, modifier.find(':')),
                     {"global", "shared", "local", "const", "param"})) {
        note(space, modifier.substr(0, modifier.find(':')));
      } else if (modifier == "nc") {
        is_repeated |= is_read_only;
        is_read_only = true;
      } else if (modifier.rfind("L1::", 0) == 0) {
        has_level = true;
      }
    }
  }
};

std::string load_or_store_misfit(const AccessModifiers& has, bool is_load) {
  const bool is_weak = has.order.empty() || has.order == "weak";
  const bool is_ordered = !is_weak && has.order != "volatile";
  if (is_ordered && has.order != "relaxed" &&
      has.order != (is_load ? "acquire" : "release")) {
    return is_load ? "no order but .relaxed and .acquire"
                   : "no order but .relaxed and .release";
  }
  if (is_ordered == has.scope.empty()) {
    return is_ordered ? "a scope such as .gpu" : "no scope without an order";
  }
  if (!is_weak && !ptx::is_one_of(has.space, {"", "global", "shared"}) &&
      (is_ordered || has.space != "local")) {
    return "no ." + has.order + " in this state space";
  }
  if (!has.cache.empty() &&
      (!is_weak ||
       !(is_load ? ptx::is_one_of(has.cache, {"ca", "cg", "cs", "cv", "lu"})
                 : ptx::is_one_of(has.cache, {"wb", "cg", "cs", "wt"})))) {
    return "no ." + has.cache;
  }
  if (has.is_read_only &&
      (!is_load || has.space != "global" || !has.order.empty())) {
    return "'.nc' with ld.global only";
  }
  return has.has_level && !has.space.empty() && has.space != "global"
      ? "a level of caches with .global only"
      : "";
}

} // namespace

std::string modifier_misfit(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  const auto has = [&](std::string_view modifier) {
    return std::find(
               instruction.modifiers.begin(),
               instruction.modifiers.end(),
               modifier) != instruction.modifiers.end();
  };
  if (has("uni") &&
      !ptx::is_one_of(opcode, {"bra", "brx", "call", "ret", "vote"})) {
    return "no '.uni'";
  }
  const bool is_load = opcode == "ld";
  const bool is_atomic = opcode == "atom" || opcode == "red";
  if (!(is_load || is_atomic || opcode == "ldu" || opcode == "st") ||
      has("async") || has("bulk") || has("mmio")) {
    return "";
  }
  const AccessModifiers its(instruction);
  if (its.is_repeated) {
    return "one modifier of a kind";
  }
  if (is_load || opcode == "st") {
    return load_or_store_misfit(its, is_load);
  }
  if (!its.cache.empty() || its.is_read_only || its.has_level) {
    return "no modifier of caches";
  }
  const bool fits = its.order.empty() ||
      (is_atomic &&
       (ptx::is_one_of(its.order, {"relaxed", "release"}) ||
        (opcode == "atom" &&
         ptx::is_one_of(its.order, {"acquire", "acq_rel"}))));
  return fits ? "" : "no ." + its.order;
}

} // namespace cudasim::engine
