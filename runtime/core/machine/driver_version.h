// Which CUDA the driver is of.
#pragma once

namespace accelerator::runtime {

/// The version of the driver API that libcuda.so.1 offers, as CUDA_VERSION has
/// it. One driver serves the runtimes of CUDA 12 and 13, as NVIDIA's does.
constexpr int kDriverVersion = 13050;

} // namespace accelerator::runtime
