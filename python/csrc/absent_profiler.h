// What lives here: what torch's profilers are told about CUDA where the plugin
// torch_cuda_profiler is not installed.
#pragma once

namespace torch_cuda {

// Answers the profilers' calls for CUDA in the plugin's place, until the plugin
// registers its own answers.
//
// Asked for times, it warns once in a process, with the plugin's name, and
// gives none: libtorch_cpu's own answer is an error for each operator, which
// the profilers print with its stack. Asked for NVTX ranges, it raises an error
// that names the plugin; libtorch_cpu says "compiled without CUDA". Does
// nothing where the profilers have somebody to ask already.
void install_absent_profiler();

} // namespace torch_cuda
