// Which operators of CUDA tensors the CPU's kernels serve.
#pragma once

#include <cstddef>

namespace torch_cuda::operators {

/// Registers the CPU's kernels for CUDA tensors, once a process; none where all
/// devices run CUDA code. Where only some do, upstream's kernels go on serving
/// these. Then vendors' kernels, over all others, for their devices. Returns
/// how many operators were routed.
int route();

/// Does the same for the operators that libraries have brought since. Returns
/// how many were routed; 0 where route() was not called yet.
int route_new();

} // namespace torch_cuda::operators

/// route() for Python, which loads this library and calls it when CUDA is first
/// used.
/// @param message gets the reason, @param capacity its size in bytes.
/// @returns how many operators were routed, -1 after an error.
extern "C" int torch_cuda_route_operators(char* message, std::size_t capacity);

/// route_new() for Python, which calls it when a library was loaded; as above.
/// Costs nothing where no operators have come.
extern "C" int torch_cuda_route_new_operators(
    char* message,
    std::size_t capacity);
