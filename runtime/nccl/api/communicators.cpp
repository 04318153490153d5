// Communicators: NCCL API, communicator creation and management functions, and
// group calls.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/group.h"
#include "runtime/nccl/init.h"

namespace nccl = accelerator::nccl;
using nccl::require;

namespace {

template <typename T>
void require_pointer(const T* pointer, const char* name) {
  require(
      pointer != nullptr,
      ncclInvalidArgument,
      std::string(name) + " argument is NULL");
}

/// Waits until nothing that the calls began is left on a stream, or can end any
/// more. A device that is at fault has nothing left.
void flush(nccl::Communicator& communicator) {
  const nccl::DeviceGuard device(communicator.device());
  cudaEvent_t last = nullptr;
  {
    const std::lock_guard lock(communicator.launching);
    last = communicator.last.event;
  }
  while (last != nullptr && !communicator.has_failed() &&
         cudaEventQuery(last) == cudaErrorNotReady) {
    cudaGetLastError(); // the program is not to find it
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

} // namespace

ACCEL_NCCL_API(ncclResult_t, ncclGetUniqueId, ncclUniqueId* id) {
  return nccl::call([&] {
    require_pointer(id, "uniqueId");
    *id = nccl::Board::create();
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommInitRankConfig,
    ncclComm_t* comm,
    int ranks,
    ncclUniqueId id,
    int rank,
    ncclConfig_t* config) {
  return nccl::in_group(
      [&] { nccl::begin_init(comm, ranks, id, rank, config); });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommInitRank,
    ncclComm_t* comm,
    int ranks,
    ncclUniqueId id,
    int rank) {
  return nccl::in_group(
      [&] { nccl::begin_init(comm, ranks, id, rank, nullptr); });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommInitAll,
    ncclComm_t* comms,
    int count,
    const int* devices) {
  return nccl::in_group([&] {
    require_pointer(comms, "comms");
    int there = 0;
    nccl::check(cudaGetDeviceCount(&there));
    require(
        count >= 0,
        ncclInvalidArgument,
        "Invalid device count requested : " + std::to_string(count));
    std::vector<bool> used(static_cast<std::size_t>(there));
    for (int rank = 0; rank < count; ++rank) {
      const int device = devices == nullptr ? rank : devices[rank];
      require(
          device >= 0 && device < there,
          ncclUnhandledCudaError,
          "Invalid device " + std::to_string(device) + "; there are " +
              std::to_string(there));
      require(
          !used[static_cast<std::size_t>(device)],
          ncclInvalidUsage,
          "Duplicate device " + std::to_string(device) + " in devlist");
      used[static_cast<std::size_t>(device)] = true;
    }
    const ncclUniqueId id = nccl::Board::create();
    for (int rank = 0; rank < count; ++rank) {
      const nccl::DeviceGuard device(devices == nullptr ? rank : devices[rank]);
      nccl::begin_init(comms + rank, count, id, rank, nullptr);
    }
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommSplit,
    ncclComm_t comm,
    int color,
    int key,
    ncclComm_t* child,
    ncclConfig_t* config) {
  return nccl::in_group(
      [&] { nccl::begin_split(comm, color, key, child, config); });
}

ACCEL_NCCL_API(ncclResult_t, ncclCommFinalize, ncclComm_t comm) {
  return nccl::in_group([&] {
    const auto communicator = nccl::find(comm);
    communicator->require_ready();
    if (!communicator->blocking()) {
      communicator->set_state(ncclInProgress);
    }
    nccl::add(nccl::Job{communicator, [=] { flush(*communicator); }});
  });
}

ACCEL_NCCL_API(ncclResult_t, ncclCommDestroy, ncclComm_t comm) {
  return nccl::call([&] {
    if (comm == nullptr) {
      return ncclSuccess;
    }
    const auto communicator = nccl::withdraw(comm);
    flush(*communicator);
    communicator->abort(); // a graph's operation, and what cannot end any more
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(ncclResult_t, ncclCommAbort, ncclComm_t comm) {
  return nccl::call([&] {
    if (comm != nullptr) {
      nccl::find(comm)->abort();
      nccl::withdraw(comm);
    }
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommGetAsyncError,
    ncclComm_t comm,
    ncclResult_t* error) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require_pointer(error, "asyncError");
    *error = communicator->state();
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(ncclResult_t, ncclCommCount, const ncclComm_t comm, int* count) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require_pointer(count, "count");
    communicator->require_ready();
    *count = communicator->ranks();
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommCuDevice,
    const ncclComm_t comm,
    int* device) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require_pointer(device, "device");
    communicator->require_ready();
    *device = communicator->device();
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommUserRank,
    const ncclComm_t comm,
    int* rank) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require_pointer(rank, "rank");
    communicator->require_ready();
    *rank = communicator->rank();
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(const char*, ncclGetErrorString, ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

ACCEL_NCCL_API(const char*, ncclGetLastError, ncclComm_t) {
  return nccl::last_error();
}

ACCEL_NCCL_API(ncclResult_t, ncclGroupStart, void) {
  nccl::start_group();
  return ncclSuccess;
}

ACCEL_NCCL_API(ncclResult_t, ncclGroupEnd, void) {
  return nccl::end_group();
}
