#include "cudasim/engine/optimization/optimizer.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "cudasim/engine/forms/short_forms.h"
#include "cudasim/engine/optimization/cleanup.h"
#include "cudasim/engine/optimization/inliner.h"
#include "cudasim/engine/optimization/promotion.h"
#include "cudasim/engine/optimization/unrolling.h"
#include "cudasim/engine/verify/vocabulary.h"

namespace cudasim::engine::optimization {
namespace {

/// Each round can tell more addresses to the next.
constexpr int kMostPasses = 24;
/// Blocks times registers of a function that is looked at as a whole.
constexpr std::size_t kMostValues = 20'000'000;
/// Bytes of local memory: functions that are called share theirs, and what is
/// part of a caller has its own.
constexpr std::uint64_t kMostLocalBytes = 64 << 10;

/// Whether a statement calls a function with a body.
bool is_call(const ptx::Module& module, const ptx::Statement& statement) {
  if (statement.kind != ptx::Statement::Kind::kInstruction ||
      statement.instruction->call == nullptr) {
    return false;
  }
  const ptx::Function* callee =
      module.find(statement.instruction->call->target.name);
  return callee != nullptr && callee->has_body;
}

bool has_calls(const ptx::Module& module, const ptx::Function& function) {
  return std::any_of(
      function.body.begin(),
      function.body.end(),
      [&](const ptx::Statement& statement) {
        return is_call(module, statement);
      });
}

bool has_local_variables(const ptx::Function& function) {
  return std::any_of(
      function.body.begin(),
      function.body.end(),
      [](const ptx::Statement& statement) {
        return statement.kind == ptx::Statement::Kind::kVariable &&
            statement.variable->space == ptx::Space::kLocal;
      });
}

std::uint64_t local_bytes(const ptx::Function& function) {
  std::uint64_t bytes = 0;
  for (const ptx::Statement& statement : function.body) {
    if (statement.kind == ptx::Statement::Kind::kVariable &&
        statement.variable->space != ptx::Space::kShared) {
      bytes = align_up(bytes, alignment_of(*statement.variable)) +
          statement.variable->size();
    }
  }
  return bytes;
}

void improve(FlatFunction& flat) {
  for (int pass = 0; pass < kMostPasses; ++pass) {
    merge_blocks(flat);
    propagate_copies(flat, FlowGraph(flat));
    remove_dead_steps(flat);
    renumber_registers(flat);
    const FlowGraph flow(flat);
    if (flow.order.size() * flat.registers.size() > kMostValues) {
      break;
    }
    const Liveness liveness(flat, flow);
    Values values(flat, flow, liveness);
    fold_constants(flat, flow, values);
    const PromotionResult result = promote_variables(flat, flow, values);
    // What became known may tell of places in loops, too.
    if (result.variables == 0 &&
        !unroll_loops(flat, flow, values, result.indexed)) {
      break;
    }
  }
  merge_blocks(flat);
  propagate_copies(flat, FlowGraph(flat));
  while (remove_dead_steps(flat)) {
  }
}

} // namespace

bool is_enabled() {
  const auto is_set = [](const char* name) {
    const char* const setting = std::getenv(name);
    return setting != nullptr && std::string(setting) == "1";
  };
  return is_set("CUDASIM_OPTIMIZE") && !is_set("CUDASIM_CHECK");
}

std::unique_ptr<ptx::Function> optimized(
    const ptx::Module& module,
    ptx::Function& function) {
  read_body(module, function);
  if (!has_calls(module, function) && !has_local_variables(function)) {
    return nullptr;
  }
  try {
    FlatFunction flat = flatten(module, function);
    improve(flat);
    auto shorter = function_of(function, flat);
    // A function that may call itself keeps its memory: endless recursion ends
    // where there is no more.
    const bool keeps_memory = !function.is_entry && has_calls(module, *shorter);
    return keeps_memory || local_bytes(*shorter) > kMostLocalBytes
        ? nullptr
        : std::move(shorter);
  } catch (const NotOptimized&) {
    return nullptr;
  }
}

} // namespace cudasim::engine::optimization
