// Random numbers: each device has a generator of the CPU's kind of its own.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace torch_stand_in {

const at::Generator& default_generator(c10::DeviceIndex device);
at::Generator new_generator(c10::DeviceIndex device);

/// The generator of the CPU that one of the stand-in draws from.
/// @throws c10::Error for one of another device.
at::Generator cpu_generator(const at::Generator& generator);

} // namespace torch_stand_in
