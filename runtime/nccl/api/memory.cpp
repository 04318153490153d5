// Memory, registered buffers and operators of the program's own: NCCL API,
// memory management and user defined reduction operators.
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/error.h"

namespace nccl = accelerator::nccl;
using nccl::require;

ACCEL_NCCL_API(ncclResult_t, ncclMemAlloc, void** memory, size_t bytes) {
  return nccl::call([&] {
    require(memory != nullptr, ncclInvalidArgument, "ptr argument is NULL");
    *memory = nullptr;
    nccl::check(cudaMalloc(memory, bytes));
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(ncclResult_t, ncclMemFree, void* memory) {
  return nccl::call([&] {
    nccl::check(cudaFree(memory));
    return ncclSuccess;
  });
}

// Every buffer is used where it is, so there is nothing to do for one.
ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommRegister,
    const ncclComm_t comm,
    void* buffer,
    size_t bytes,
    void** handle) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require(
        buffer != nullptr && handle != nullptr && bytes > 0,
        ncclInvalidArgument,
        "a buffer to register and its handle are needed");
    const std::lock_guard lock(communicator->mutex);
    *handle = reinterpret_cast<void*>(++communicator->registrations);
    communicator->registered.insert(*handle);
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommDeregister,
    const ncclComm_t comm,
    void* handle) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    const std::lock_guard lock(communicator->mutex);
    require(
        handle == nullptr || communicator->registered.erase(handle) != 0,
        ncclInvalidUsage,
        "Deregister: Could not find handle");
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclRedOpCreatePreMulSum,
    ncclRedOp_t* op,
    void* scalar,
    ncclDataType_t type,
    ncclScalarResidence_t residence,
    ncclComm_t comm) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require(
        op != nullptr && scalar != nullptr,
        ncclInvalidArgument,
        "op and scalar arguments are needed, and one is NULL");
    const std::size_t bytes = nccl::size_of(type);
    require(
        bytes != 0,
        ncclInvalidArgument,
        "ncclRedOpCreatePreMulSum : invalid type " + std::to_string(type));
    require(
        residence == ncclScalarDevice || residence == ncclScalarHostImmediate,
        ncclInvalidArgument,
        "ncclRedOpCreatePreMulSum : invalid residence " +
            std::to_string(residence));
    communicator->require_ready();
    nccl::Factor factor{type, 0, nullptr};
    if (residence == ncclScalarHostImmediate) {
      std::memcpy(&factor.bits, scalar, bytes);
    } else {
      factor.on_device = scalar;
    }
    const std::lock_guard lock(communicator->mutex);
    auto& factors = communicator->factors;
    std::size_t index = 0;
    while (index < factors.size() && factors[index].has_value()) {
      ++index;
    }
    factors.resize(std::max(factors.size(), index + 1));
    factors[index] = factor;
    *op = static_cast<ncclRedOp_t>(ncclNumOps + index);
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclRedOpDestroy,
    ncclRedOp_t op,
    ncclComm_t comm) {
  return nccl::call([&] {
    require(
        op < 0 || op >= ncclNumOps,
        ncclInvalidArgument,
        "ncclRedOpDestroy : operator " + std::to_string(op) +
            " is a NCCL builtin");
    const auto communicator = nccl::find(comm);
    const std::lock_guard lock(communicator->mutex);
    auto& factors = communicator->factors;
    const auto index = static_cast<std::size_t>(op - ncclNumOps);
    require(
        op >= 0 && index < factors.size() && factors[index].has_value(),
        ncclInvalidArgument,
        "ncclRedOpDestroy : operator " + std::to_string(op) +
            " unknown to this communicator");
    factors[index].reset();
    return ncclSuccess;
  });
}
