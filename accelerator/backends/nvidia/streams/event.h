// An event of the driver's.
#pragma once

#include <cuda.h>

#include "accelerator/abi/device_api.h"
#include "accelerator/backends/nvidia/devices/device.h"

struct accel_event_object {
  accelerator::nvidia::Device& device;
  CUevent native; // null: made on a device at fault
};
