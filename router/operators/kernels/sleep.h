// torch.cuda._sleep on devices that run no CUDA code.
#pragma once

#include <cstdint>

/// Has the current stream wait for as long as the device's clock takes for some
/// cycles, as upstream's kernel does.
/// @returns 1; 0 where the current device runs CUDA code, and upstream's kernel
/// is to be launched; after an error its number in CUDA, negative.
extern "C" int torch_cuda_sleep(std::int64_t cycles);
