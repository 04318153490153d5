// NVIDIA's NVRTC, which both our NVRTC and our nvJitLink call.
#pragma once

#include <cuda.h>

#include "runtime/real/real_library.h"

namespace accelerator {

#if CUDA_VERSION >= 13000
inline constexpr RealLibrary kRealNvrtc{
    "libnvrtc.so.13",
    "accelerator_nvrtc",
    "TORCH_CUDA_NVRTC_PATH",
    "CUDASIM_NVRTC_PATH",
    "cu13",
    "which compiles kernels at run time; pip install nvidia-cuda-nvrtc"};
#else
inline constexpr RealLibrary kRealNvrtc{
    "libnvrtc.so.12",
    "accelerator_nvrtc",
    "TORCH_CUDA_NVRTC_PATH",
    "CUDASIM_NVRTC_PATH",
    "cuda_nvrtc",
    "which compiles kernels at run time; pip install nvidia-cuda-nvrtc-cu12"};
#endif

} // namespace accelerator
