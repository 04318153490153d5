// Generators of pu: CUDA's, under the other name.
#pragma once

#include <ATen/core/Generator.h>

namespace torch_pu {

/// A generator of pu that draws what `cuda` draws, and moves it on.
at::Generator pu_generator(at::Generator cuda);

/// The CUDA generator that a generator of pu stands for.
at::Generator cuda_generator(const at::Generator& pu);

/// The one that CUDA's default generator has on a device; -1 is the current.
const at::Generator& default_generator(c10::DeviceIndex device);

/// A generator of its own; -1 is the current device.
at::Generator new_generator(c10::DeviceIndex device);

} // namespace torch_pu
