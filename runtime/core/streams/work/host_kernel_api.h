// Kernels of the host, which torch's side runs in the order of a stream in the
// place of CUDA's: profilers see them as kernels. A process without this
// library has NVIDIA's.
#pragma once

#include <driver_types.h>

#include <cstdint>

extern "C" {

/// Begins a kernel that the calling thread runs itself; what is in front of it
/// in its stream is done. To profilers the thread launches it now.
/// @param stream of the kernel.
/// @param state gets four numbers that accelerator_host_kernel_end() takes.
/// @returns whether anybody watches; 0: there is nothing to end.
int accelerator_host_kernel_begin(cudaStream_t stream, std::uint64_t* state);

/// Ends it, and tells who watches.
/// @param name that profilers show.
void accelerator_host_kernel_end(const std::uint64_t* state, const char* name);

/// As cudaLaunchHostFunc(), for a function that is a kernel to profilers.
/// @param name that profilers show; it is copied, and kept for good.
/// @returns what CUDA's own functions return for a stream.
cudaError_t accelerator_host_kernel_launch(
    cudaStream_t stream,
    cudaHostFn_t function,
    void* data,
    const char* name);
}
