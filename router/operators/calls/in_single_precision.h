// Operators that the CPU computes in half precision where CUDA computes in
// single precision.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <string_view>

namespace torch_cuda::operators {

/// The type of a result of an operator that is computed in single precision.
enum class SingleResult : char {
  Half = 'h', // that of the numbers that came as such
  Single = 's', // CUDA gives what it accumulated
  Weights = 'w', // that of the argument `weight`, or as Half without one
};

/// One operator, or several.
struct SinglePrecision {
  std::string_view name; // a pattern, see is_named
  std::string_view results; // a SingleResult each; those behind it are Half
  /// In which calls; without it, in all.
  bool (*when)(const c10::FunctionSchema&, const torch::jit::Stack&) = nullptr;
};

/// Finds what is known of a call of half precision.
/// @param given the operator's arguments.
/// @return null where the CPU's kernel is called as it is.
const SinglePrecision* in_single_precision(
    const c10::FunctionSchema& schema,
    const torch::jit::Stack& given);

} // namespace torch_cuda::operators
