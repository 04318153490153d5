// How to tell this library from NVIDIA's.
#include "runtime/core/machine/driver_version.h"

/// The CUDA version whose driver API this library offers, such as 13050. No
/// other libcuda has this function.
extern "C" int accelerator_driver_version() {
  return accelerator::runtime::kDriverVersion;
}
