// The profiler of CUDA that kineto runs beside its own.
#pragma once

namespace torch_cuda::profiler {

/// Has kineto make a session of ours for each profile that wants CUDA.
void register_child_profiler();

} // namespace torch_cuda::profiler
