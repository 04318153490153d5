// Devices, as PyTorch numbers them.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Macros.h>

namespace c10::stand {

/// How many there are; 0 where the runtime cannot be used.
C10_API DeviceIndex device_count() noexcept;
C10_API DeviceIndex current_device();
C10_API void set_device(DeviceIndex device);
/// Sets it and tells what it was. A negative number changes nothing.
C10_API DeviceIndex exchange_device(DeviceIndex device);
C10_API void device_synchronize();
/// The device, or the current one for a negative number.
C10_API DeviceIndex device_or_current(DeviceIndex device);

} // namespace c10::stand
