#include "cudasim/engine/optimization/promotion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "cudasim/engine/optimization/pieces.h"

namespace cudasim::engine::optimization {
namespace {

using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

/// How a load or store spells its access; none where it is not a plain one.
struct Spelling {
  bool generic = true;
  Type type = Type::kNone;
  std::uint32_t elements = 1;
};

std::optional<Spelling> spelling_of(const ptx::Instruction& instruction) {
  if (instruction.opcode != "ld" && instruction.opcode != "st") {
    return std::nullopt;
  }
  Spelling spelling;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "local" || modifier == "param" ||
        modifier == "param::func") {
      spelling.generic = false;
    } else if (modifier == "v2" || modifier == "v4") {
      spelling.elements = modifier == "v2" ? 2 : 4;
    } else if (ptx::type_named(modifier) != Type::kNone) {
      spelling.type = ptx::type_named(modifier);
    } else if (modifier != "weak") {
      return std::nullopt;
    }
  }
  const std::size_t bytes = ptx::size_of(spelling.type);
  return bytes == 0 || bytes > 8 ? std::nullopt
                                 : std::optional<Spelling>(spelling);
}

/// Replaces accesses of one function.
class Promotion {
 public:
  Promotion(FlatFunction& flat, const FlowGraph& flow, Values& values)
      : flat_(flat),
        flow_(flow),
        values_(values),
        stays_(flat.variables.size(), false),
        pieces_(flat) {}

  PromotionResult run() {
    for (std::size_t i = 0; i < flat_.variables.size(); ++i) {
      stays_[i] = flat_.variables[i].is_fixed;
    }
    for (const std::uint32_t block : flow_.order) {
      if (values_.is_reached(block)) {
        look_at(block);
      }
    }
    std::map<std::uint32_t, std::vector<const PlainAccess*>> of_variable;
    for (const PlainAccess& access : accesses_) {
      if (!stays_[access.variable]) {
        of_variable[access.variable].push_back(&access);
      }
    }
    for (const auto& [variable, accesses] : of_variable) {
      if (pieces_.add(variable, accesses)) {
        ++result_.variables;
      } else {
        stays_[variable] = true;
      }
    }
    rewrite();
    return std::move(result_);
  }

 private:
  void keep(const std::vector<std::uint32_t>& variables) {
    for (const std::uint32_t variable : variables) {
      stays_[variable] = true;
    }
  }

  void keep_symbols(const Operand& operand) {
    const std::uint32_t variable = flat_.variable_of(operand.name);
    if (operand.kind == Kind::kSymbol && variable != kNoVariable) {
      stays_[variable] = true;
    }
    for (const Operand& element : operand.elements) {
      keep_symbols(element);
    }
  }

  void look_at(std::uint32_t block) {
    ValuesHere& here = values_.at_begin(block);
    const FlatBlock& flat = flat_.blocks[block];
    for (std::size_t i = 0; i < flat.steps.size(); ++i) {
      const Step& step = flat.steps[i];
      if (step.instruction.call != nullptr) {
        for (const auto* list :
             {&step.instruction.call->results,
              &step.instruction.call->arguments}) {
          for (const Operand& operand : *list) {
            keep_symbols(operand);
          }
        }
      } else if (
          step.instruction.opcode == "ld" || step.instruction.opcode == "st") {
        look_at_access(step, here, block, i);
      } else {
        look_at_other(step, here);
      }
      values_.apply(step, here);
    }
    for_each_register_at_end(flat, [&](std::uint32_t number) {
      keep(values_.variables_in(here[number]));
    });
  }

  void look_at_access(
      const Step& step,
      const ValuesHere& here,
      std::uint32_t block,
      std::size_t index) {
    const ptx::Instruction& instruction = step.instruction;
    const bool is_load = instruction.opcode == "ld";
    const std::size_t at = is_load ? 1 : 0;
    if (!is_load) {
      keep_what_is_read(instruction.operands[1], here);
    }
    if (instruction.cache_policy) {
      keep_what_is_read(*instruction.cache_policy, here);
    }
    const Operand& address = instruction.operands[at];
    if (address.kind != Kind::kAddress || address.elements.size() != 1) {
      keep_symbols(address);
      return;
    }
    const Operand& base = address.elements[0];
    Value place;
    if (base.kind == Kind::kRegister) {
      place = here[register_number(base.name)];
    } else if (flat_.variable_of(base.name) != kNoVariable) {
      place.kind = Value::Kind::kPlace;
      place.variable = flat_.variable_of(base.name);
    }
    if (place.kind != Value::Kind::kPlace) {
      const auto variables = values_.variables_in(place);
      keep(variables);
      if (!variables.empty()) {
        result_.indexed.insert(block);
      }
      return;
    }
    const std::optional<Spelling> spelling = spelling_of(instruction);
    PlainAccess access;
    access.variable = place.variable;
    access.begin = place.bits + static_cast<std::uint64_t>(address.offset) +
        static_cast<std::uint64_t>(base.offset);
    if (!spelling || spelling->generic != place.generic) {
      stays_[place.variable] = true;
      return;
    }
    access.bytes = static_cast<std::uint32_t>(ptx::size_of(spelling->type));
    access.elements = spelling->elements;
    access.is_signed = spelling->type == Type::kS8 ||
        spelling->type == Type::kS16 || spelling->type == Type::kS32;
    access.is_load = is_load;
    access.block = block;
    access.step = index;
    const std::uint64_t size = flat_.variables[place.variable].variable.size();
    const std::uint64_t bytes = access.bytes * access.elements;
    if (access.begin > size || bytes > size - access.begin ||
        access.begin % bytes != 0) {
      stays_[place.variable] = true;
      return;
    }
    accesses_.push_back(access);
  }

  void keep_what_is_read(const Operand& operand, const ValuesHere& here) {
    keep_symbols(operand);
    if (operand.kind == Kind::kRegister) {
      keep(values_.variables_in(here[register_number(operand.name)]));
    }
    for (const Operand& element : operand.elements) {
      keep_what_is_read(element, here);
    }
  }

  /// An address may go through a step whose result is followed.
  void look_at_other(const Step& step, const ValuesHere& here) {
    std::vector<std::uint32_t> read;
    const auto note = [&](const std::vector<std::uint32_t>& variables) {
      read.insert(read.end(), variables.begin(), variables.end());
    };
    for_each_register(
        step, [&](const Operand& operand, const OperandShape& shape, bool at) {
          if (!shape.written || at) {
            note(values_.variables_in(here[register_number(operand.name)]));
          }
        });
    for (const Operand& operand : step.instruction.operands) {
      note_symbols(operand, read);
    }
    if (read.empty()) {
      return;
    }
    Value result;
    if (!values_.result_of(step, here, &result)) {
      keep(read);
      return;
    }
    const auto known = values_.variables_in(result);
    for (const std::uint32_t variable : read) {
      stays_[variable] = stays_[variable] ||
          (!result.is_constant() &&
           std::find(known.begin(), known.end(), variable) == known.end());
    }
  }

  void note_symbols(
      const Operand& operand,
      std::vector<std::uint32_t>& variables) const {
    const std::uint32_t variable = flat_.variable_of(operand.name);
    if (operand.kind == Kind::kSymbol && variable != kNoVariable) {
      variables.push_back(variable);
    }
    for (const Operand& element : operand.elements) {
      note_symbols(element, variables);
    }
  }

  void rewrite() {
    std::size_t next = 0;
    for (const std::uint32_t number : flow_.order) {
      std::vector<Step> steps;
      std::vector<Step>& old = flat_.blocks[number].steps;
      for (std::size_t i = 0; i < old.size(); ++i) {
        const bool is_next = next < accesses_.size() &&
            accesses_[next].block == number && accesses_[next].step == i;
        const PlainAccess* access = is_next ? &accesses_[next++] : nullptr;
        if (access == nullptr || stays_[access->variable]) {
          steps.push_back(std::move(old[i]));
          continue;
        }
        pieces_.replace(old[i], *access, steps);
      }
      old = std::move(steps);
    }
  }

  FlatFunction& flat_;
  const FlowGraph& flow_;
  Values& values_;
  std::vector<bool> stays_; // by variable: in memory
  std::vector<PlainAccess> accesses_;
  Pieces pieces_;
  PromotionResult result_;
};

} // namespace

PromotionResult promote_variables(
    FlatFunction& flat,
    const FlowGraph& flow,
    Values& values) {
  return Promotion(flat, flow, values).run();
}

} // namespace cudasim::engine::optimization
