// What needs memory that the ranks' kernels share, or memory of NCCL's own to
// give up: there is neither. Each refuses by its name.
#include <cstdint>
#include <string>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/error.h"

namespace nccl = accelerator::nccl;

// Types of NCCL 2.30, which the headers lack; nothing is read of them.
struct ncclWindow_vidmem;
struct ncclDevCommRequirements;
struct ncclDevComm;
struct ncclWaitSignalDesc;
using ncclWindow_t = ncclWindow_vidmem*;

namespace {

ncclResult_t refuse(
    const char* what,
    const char* function = __builtin_FUNCTION()) {
  const char* name = *function == 'p' ? function + 1 : function;
  return nccl::call([&]() -> ncclResult_t {
    throw nccl::Error(
        ncclInvalidUsage,
        std::string(name) + " : torch_cuda's NCCL does not support " + what);
  });
}

constexpr const char* kWindows = "windows of symmetric memory";
constexpr const char* kDevice = "communicators for kernels";
constexpr const char* kSignals = "signals of one rank to another";
constexpr const char* kSuspending = "giving up its memory for a time";

} // namespace

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommWindowRegister,
    ncclComm_t,
    void*,
    size_t,
    ncclWindow_t*,
    int) {
  return refuse(kWindows);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommWindowDeregister,
    ncclComm_t,
    ncclWindow_t) {
  return refuse(kWindows);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclWinGetUserPtr,
    ncclComm_t,
    ncclWindow_t,
    void**) {
  return refuse(kWindows);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclDevCommCreate,
    ncclComm_t,
    const ncclDevCommRequirements*,
    ncclDevComm*) {
  return refuse(kDevice);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclDevCommDestroy,
    ncclComm_t,
    const ncclDevComm*) {
  return refuse(kDevice);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclGetPeerDevicePointer,
    ncclWindow_t,
    size_t,
    int,
    void**) {
  return refuse(kWindows);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclGetLsaMultimemDevicePointer,
    ncclWindow_t,
    size_t,
    void**) {
  return refuse(kWindows);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclPutSignal,
    const void*,
    size_t,
    ncclDataType_t,
    int,
    ncclWindow_t,
    size_t,
    int,
    int,
    unsigned,
    ncclComm_t,
    cudaStream_t) {
  return refuse(kSignals);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclSignal,
    int,
    int,
    int,
    unsigned,
    ncclComm_t,
    cudaStream_t) {
  return refuse(kSignals);
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclWaitSignal,
    int,
    ncclWaitSignalDesc*,
    ncclComm_t,
    cudaStream_t) {
  return refuse(kSignals);
}

ACCEL_NCCL_API(ncclResult_t, ncclCommSuspend, ncclComm_t, int) {
  return refuse(kSuspending);
}

ACCEL_NCCL_API(ncclResult_t, ncclCommResume, ncclComm_t) {
  return refuse(kSuspending);
}

// Ranks meet in memory of the host: none of a device is NCCL's own, and none is
// given up.
ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommMemStats,
    ncclComm_t comm,
    int statistic,
    uint64_t* value) {
  return nccl::call([&] {
    nccl::find(comm);
    nccl::require(
        value != nullptr && statistic >= 0 && statistic <= 3,
        ncclInvalidArgument,
        "ncclCommMemStats : invalid statistic " + std::to_string(statistic) +
            ", or value argument is NULL");
    *value = 0;
    return ncclSuccess;
  });
}
