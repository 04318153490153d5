#include "cudasim/engine/optimization/cleanup.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "cudasim/engine/verify/operand_types.h"
#include "cudasim/engine/verify/vocabulary.h"
#include "cudasim/ptx/words.h"

namespace cudasim::engine::optimization {

using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

namespace {

/// Whether a step only writes registers, from registers and numbers; "cc" says
/// that it leaves a carry behind, too.
bool is_pure(const Step& step) {
  return step.row != nullptr && !step.row->shape.warp_wide &&
      !has(step.instruction, "cc") &&
      ptx::is_one_of(
             step.instruction.opcode,
             {"abs",   "add",  "and",  "bfe",  "bfi", "clz",  "cos", "cvt",
              "cvta",  "div",  "ex2",  "fma",  "lg2", "mad",  "max", "min",
              "mov",   "mul",  "neg",  "not",  "or",  "popc", "rcp", "rem",
              "rsqrt", "selp", "set",  "setp", "shl", "shr",  "sin", "slct",
              "sqrt",  "sub",  "tanh", "xor"});
}

constexpr std::uint32_t kNoRegister = ~std::uint32_t{0};

/// "mov" from one register to another.
bool is_copy(const Step& step) {
  const ptx::Instruction& instruction = step.instruction;
  return instruction.opcode == "mov" && instruction.modifiers.size() == 1 &&
      instruction.guard.predicate.empty() && instruction.operands.size() == 2 &&
      instruction.operands[0].kind == Kind::kRegister &&
      instruction.operands[1].kind == Kind::kRegister &&
      !instruction.operands[1].negated &&
      instruction.operands[1].component == 0;
}

} // namespace

void fold_constants(FlatFunction& flat, const FlowGraph& flow, Values& values) {
  for (const std::uint32_t number : flow.order) {
    if (!values.is_reached(number)) {
      continue;
    }
    FlatBlock& block = flat.blocks[number];
    ValuesHere& here = values.at_begin(number);
    std::vector<Step> steps;
    for (Step& step : block.steps) {
      const int executed = values.known(step.instruction.guard, here);
      if (executed == 0) {
        continue;
      }
      if (executed == 1) {
        step.instruction.guard = {};
      }
      Value result;
      const bool is_known = is_pure(step) &&
          values.result_of(step, here, &result) && result.is_constant();
      values.apply(step, here);
      if (is_known && step.instruction.opcode != "mov" &&
          step.instruction.operands[0].kind == Kind::kRegister) {
        const Operand target = step.instruction.operands[0];
        const std::uint32_t width =
            register_width(flat.registers[register_number(target.name)]);
        if (width != 0) {
          step = make_step(
              "mov.b" + std::to_string(8 * width),
              {target, integer_operand(result.bits)},
              step);
        }
      }
      steps.push_back(std::move(step));
    }
    block.steps = std::move(steps);
    if (!block.guard.predicate.empty()) {
      const auto next = values.successors(block, here);
      if (next.size() == 1) {
        block.guard = {};
        block.targets.clear();
        block.next = next[0];
      }
    }
  }
}

void propagate_copies(FlatFunction& flat, const FlowGraph& flow) {
  for (const std::uint32_t number : flow.order) {
    FlatBlock& block = flat.blocks[number];
    std::unordered_map<std::uint32_t, std::uint32_t> sources;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> copies;
    const auto source_of = [&](std::uint32_t reg) {
      const auto found = sources.find(reg);
      return found == sources.end() ? reg : found->second;
    };
    const auto overwritten = [&](std::uint32_t reg) {
      sources.erase(reg);
      const auto found = copies.find(reg);
      if (found != copies.end()) {
        for (const std::uint32_t copy : found->second) {
          const auto source = sources.find(copy);
          if (source != sources.end() && source->second == reg) {
            sources.erase(source);
          }
        }
        copies.erase(found);
      }
    };
    const auto rename_guard = [&](ptx::Guard& guard) {
      if (!guard.predicate.empty()) {
        guard.predicate =
            register_name(source_of(register_number(guard.predicate)));
      }
    };
    for (Step& step : block.steps) {
      rename_guard(step.instruction.guard);
      for_each_register(
          step, [&](Operand& operand, const OperandShape& shape, bool at) {
            if (shape.written && !at) {
              return;
            }
            const std::uint32_t reg = register_number(operand.name);
            const std::uint32_t source = source_of(reg);
            if (source != reg &&
                (flat.registers[source] == flat.registers[reg] || at ||
                 register_fits(
                     shape.type, flat.registers[source], shape.relaxed))) {
              operand.name = register_name(source);
            }
          });
      for_each_register(
          step, [&](Operand& operand, const OperandShape& shape, bool at) {
            if (shape.written && !at) {
              overwritten(register_number(operand.name));
            }
          });
      if (is_copy(step)) {
        const std::uint32_t copy =
            register_number(step.instruction.operands[0].name);
        const std::uint32_t source =
            register_number(step.instruction.operands[1].name);
        if (copy != source) {
          sources[copy] = source;
          copies[source].push_back(copy);
        }
      }
    }
    rename_guard(block.guard);
    if (block.index != nullptr && block.index->kind == Kind::kRegister) {
      const std::uint32_t reg = register_number(block.index->name);
      const std::uint32_t source = source_of(reg);
      if (flat.registers[source] == flat.registers[reg]) {
        block.index->name = register_name(source);
      }
    }
  }
}

bool remove_dead_steps(FlatFunction& flat) {
  bool removed = false;
  const FlowGraph flow(flat);
  const Liveness liveness(flat, flow);
  for (const std::uint32_t number : flow.order) {
    FlatBlock& block = flat.blocks[number];
    RegisterSet live = liveness.at_end[number];
    for_each_register_at_end(
        block, [&](std::uint32_t reg) { live.insert(reg); });
    std::vector<Step> kept;
    for (std::size_t i = block.steps.size(); i-- > 0;) {
      Step& step = block.steps[i];
      bool is_needed = !is_pure(step);
      if (!is_needed) {
        for_each_register(
            step,
            [&](const Operand& operand, const OperandShape& shape, bool at) {
              is_needed |= shape.written && !at &&
                  live.has(register_number(operand.name));
            });
      }
      if (is_needed) {
        step_back(step, live);
        kept.push_back(std::move(step));
      }
    }
    std::reverse(kept.begin(), kept.end());
    removed |= kept.size() < block.steps.size();
    block.steps = std::move(kept);
  }
  return removed;
}

void renumber_registers(FlatFunction& flat) {
  std::vector<std::uint32_t> numbers(flat.registers.size(), kNoRegister);
  std::vector<Type> left;
  const auto renamed = [&](const std::string& name) {
    const std::uint32_t old = register_number(name);
    if (numbers[old] == kNoRegister) {
      numbers[old] = static_cast<std::uint32_t>(left.size());
      left.push_back(flat.registers[old]);
    }
    return register_name(numbers[old]);
  };
  const auto rename_guard = [&](ptx::Guard& guard) {
    if (!guard.predicate.empty()) {
      guard.predicate = renamed(guard.predicate);
    }
  };
  for (FlatBlock& block : flat.blocks) {
    for (Step& step : block.steps) {
      rename_guard(step.instruction.guard);
      for_each_register(step, [&](Operand& operand, const OperandShape&, bool) {
        operand.name = renamed(operand.name);
      });
    }
    rename_guard(block.guard);
    if (block.index != nullptr && block.index->kind == Kind::kRegister) {
      block.index->name = renamed(block.index->name);
    }
  }
  flat.registers = std::move(left);
}

} // namespace cudasim::engine::optimization
