// Numbers of 16 bits where the CPU's kernels have none.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/ScalarType.h>
#include <c10/util/FunctionRef.h>

namespace torch_cuda::operators {

/// Whether a type is one that some of the CPU's kernels lack and CUDA's have.
inline bool is_half_precision(c10::ScalarType type) {
  return type == c10::kHalf || type == c10::kBFloat16 ||
      type == c10::kComplexHalf;
}

/// Calls an operator's kernel, and once more in single precision where it says
/// that it lacks the type. CUDA's kernels compute like that. Where the CPU's
/// kernel takes the type and does something else than CUDA's, it is called in
/// single precision only.
/// @param call takes the arguments from a stack and puts the results on it.
/// Throws what the first call throws.
void call_with_half_precision(
    const c10::FunctionSchema& schema,
    torch::jit::Stack* stack,
    c10::function_ref<void(torch::jit::Stack*)> call);

} // namespace torch_cuda::operators
