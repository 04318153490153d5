// How to tell this library from NVIDIA's.
#include <cuda.h>

/// The CUDA version whose driver API this library offers, such as 12040. No
/// other libcuda has this function.
extern "C" int accelerator_driver_version() {
  return CUDA_VERSION;
}
