// Which NCCL this is: that of the PyTorch which each major version of CUDA goes
// with. The only file of the folder that is compiled for each of them.
#include "runtime/nccl/error.h"

ACCEL_NCCL_API(ncclResult_t, ncclGetVersion, int* version) {
  if (version == nullptr) {
    accelerator::nccl::set_last_error("version argument is NULL");
    return ncclInvalidArgument;
  }
  *version = ACCEL_NCCL_VERSION;
  return ncclSuccess;
}
