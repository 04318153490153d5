#include "cudasim/engine/lowering/kernel_lowering.h"

#include <algorithm>

#include "cudasim/engine/code/lowering_error.h"
#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/forms/short_forms.h"
#include "cudasim/engine/lowering/function_lowering.h"
#include "cudasim/engine/optimization/optimizer.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/limits.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine {

using ptx::Operand;
using ptx::Space;
using Kind = ptx::Operand::Kind;

ptx::Function* KernelLowering::definition(const std::string& name) {
  const ptx::Function* function = module.find(name);
  return function != nullptr && function->has_body
      ? const_cast<ptx::Function*>(function)
      : nullptr;
}

const Code* KernelLowering::code_of(const std::string& name) {
  const auto found = codes_.find(name);
  if (found != codes_.end()) {
    return found->second;
  }
  ptx::Function* function = definition(name);
  if (function == nullptr) {
    throw LoweringError(
        module.source_name + ": the function '" + name +
        "' is not defined in this module");
  }
  kernel->codes.push_back(std::make_unique<Code>());
  Code& code = *kernel->codes.back();
  code.name = name;
  code.source_name = module.source_name;
  codes_[name] = &code;
  to_lower_.emplace_back(function, &code);
  return &code;
}

void KernelLowering::fail(
    const ptx::Function& function,
    ptx::Location location,
    const std::string& what) const {
  throw LoweringError(
      module.source_name + ":" + std::to_string(location.line) + ": " + what +
      ", in " + function.name);
}

void KernelLowering::lower_all() {
  while (!to_lower_.empty()) {
    const auto [function, code] = to_lower_.back();
    to_lower_.pop_back();
    read_body(module, *function);
    const auto shorter =
        optimization::is_enabled() && by_address_.count(function) == 0
        ? optimization::optimized(module, *function)
        : nullptr;
    const ptx::Function& lowered = shorter ? *shorter : *function;
    FunctionLowering(*this, lowered, *code).lower(verify_body(module, lowered));
    kernel->has_calls |= code->calls;
    kernel->allocates |= code->allocates;
    for (const SpecialRegister& reg : code->specials) {
      kernel->uses_reserved_shared |= is_in_reserved_shared(reg.special);
    }
  }
}

void KernelLowering::place_variable(
    const ptx::Variable& variable,
    const std::string& name) {
  static_shared = align_up(static_shared, alignment_of(variable));
  shared_offsets[name] = static_shared;
  static_shared += variable.size();
  if (static_shared > kMostStaticShared) {
    refuse(
        module,
        variable.location,
        variable.name,
        "at most " + std::to_string(kMostStaticShared) +
            " bytes of shared memory in a kernel, not " +
            std::to_string(static_shared));
  }
}

void KernelLowering::count_constant(const ptx::Variable& variable) {
  std::uint64_t& bytes = kernel->info.constant_bytes;
  if (constants_.insert(variable.name).second) {
    bytes = align_up(bytes, alignment_of(variable)) + variable.size();
  }
}

void KernelLowering::place_operand(const Operand& operand) {
  for (const Operand& element : operand.elements) {
    place_operand(element);
  }
  if (operand.name.empty() || operand.name[0] == '%' ||
      shared_offsets.count(operand.name) != 0) {
    return;
  }
  for (const ptx::Variable& variable : module.variables) {
    if (variable.name != operand.name) {
      continue;
    }
    if (variable.space == Space::kConst) {
      count_constant(variable);
    } else if (variable.space == Space::kShared && variable.size() == 0) {
      dynamic_shared_.insert(variable.name);
    } else if (variable.space == Space::kShared) {
      place_variable(variable, variable.name);
    }
    return;
  }
  ptx::Function* const function = definition(operand.name);
  if (function != nullptr && !function->is_entry) { // one that it launches
    to_place_.push_back(function);
  }
}

void KernelLowering::place_shared(ptx::Function& function) {
  if (!placed_functions_.insert(function.name).second) {
    return;
  }
  read_body(module, function);
  for (const ptx::Statement& statement : function.body) {
    if (statement.kind == ptx::Statement::Kind::kVariable &&
        statement.variable->space == Space::kShared) {
      place_variable(
          *statement.variable, function.name + "/" + statement.variable->name);
    } else if (statement.kind == ptx::Statement::Kind::kInstruction) {
      for (const Operand& operand : statement.instruction->operands) {
        place_operand(operand);
      }
      if (statement.instruction->call != nullptr) {
        const Operand& target = statement.instruction->call->target;
        calls_addresses_ |= target.kind == Kind::kRegister;
        place_operand(target);
      }
    }
  }
}

std::unique_ptr<Kernel> KernelLowering::lower(ptx::Function& entry) {
  const auto blocks = [&](int dimension) {
    return std::max(1u, entry.bounds.required_cluster[dimension]);
  };
  if (blocks(0) * blocks(1) * blocks(2) != 1) {
    fail(
        entry,
        entry.location,
        "found a kernel for clusters of " + std::to_string(blocks(0)) + " x " +
            std::to_string(blocks(1)) + " x " + std::to_string(blocks(2)) +
            " blocks (.reqnctapercluster), and the simulated device has "
            "clusters of one block: compile it without __cluster_dims__");
  }
  kernel = std::make_unique<Kernel>();
  to_place_ = {&entry};
  for (bool all = false; !to_place_.empty();) {
    ptx::Function* function = to_place_.back();
    to_place_.pop_back();
    place_shared(*function);
    if (calls_addresses_ && !all) {
      // The address can be that of any function, be it from a table.
      all = true;
      for (const auto& other : module.functions) {
        if (!other->is_entry && other->has_body) {
          to_place_.push_back(other.get());
        }
      }
    }
  }
  // All dynamic arrays of a kernel begin at the same place.
  kernel->dynamic_shared_offset = align_up(static_shared, 128);
  for (const std::string& name : dynamic_shared_) {
    shared_offsets[name] = kernel->dynamic_shared_offset;
  }
  kernel->entry = code_of(entry.name);
  if (calls_addresses_) {
    for (const auto& function : module.functions) {
      if (!function->is_entry && function->has_body) {
        by_address_.insert(function.get());
        kernel->functions[function_address(*function)] =
            code_of(function->name);
      }
    }
  }
  lower_all();

  KernelInfo& info = kernel->info;
  info.name = entry.name;
  for (const char digit : module.target) {
    if (digit >= '0' && digit <= '9') {
      info.ptx_target =
          info.ptx_target * 10 + static_cast<std::uint32_t>(digit - '0');
    }
  }
  std::uint64_t offset = 0;
  for (const ptx::Variable& parameter : entry.parameters) {
    offset = align_up(offset, alignment_of(parameter));
    info.parameters.push_back(
        {static_cast<std::uint32_t>(offset),
         static_cast<std::uint32_t>(parameter.size())});
    offset += parameter.size();
  }
  info.parameter_bytes = static_cast<std::uint32_t>(offset);
  info.static_shared_bytes = static_shared;
  info.local_bytes = kernel->entry->local_bytes;
  info.registers = static_cast<std::uint32_t>(std::clamp<std::size_t>(
      kernel->entry->frame_bytes / (kLanes * 4), 16, 255));
  const auto& bounds = entry.bounds;
  if (bounds.max_registers != 0) {
    info.registers = std::min(info.registers, bounds.max_registers);
  }
  const auto product = [](const std::uint32_t values[3]) {
    return values[0] * values[1] * values[2];
  };
  if (bounds.required_threads[0] != 0) {
    info.required_threads = {
        bounds.required_threads[0],
        bounds.required_threads[1],
        bounds.required_threads[2]};
    info.max_threads = product(bounds.required_threads);
  } else if (bounds.max_threads[0] != 0) {
    info.max_threads = std::min(1024u, product(bounds.max_threads));
  }
  return std::move(kernel);
}

std::unique_ptr<Kernel> lower_kernel(
    ptx::Module& module,
    ptx::Function& entry,
    const VariableAddress& address_of) {
  return KernelLowering(module, address_of).lower(entry);
}

} // namespace cudasim::engine
