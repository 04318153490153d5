// How long a group would take: NCCL API, group calls.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/nccl/error.h"
#include "runtime/nccl/group.h"
#include "runtime/nccl/operation.h"

namespace nccl = accelerator::nccl;

namespace {

constexpr ncclSimInfo_t kInitial = NCCL_SIM_INFO_INITIALIZER;

// What ranks that meet through memory of the host take: to meet, and to copy.
// Nothing is measured: who compares two groups shall find the larger longer.
constexpr double kMeeting = 10; // microseconds
constexpr double kBytesPerMicrosecond = 5000;

/// In microseconds.
float estimate(const std::vector<nccl::Plan>& plans) {
  double longest = 0; // communicators work at the same time
  for (const nccl::Plan& plan : plans) {
    double time = 0;
    for (const nccl::Operation& operation : plan.operations) {
      const std::size_t bytes = std::max(
          nccl::bytes_to_send(*plan.communicator, operation),
          nccl::bytes_to_receive(*plan.communicator, operation));
      time += kMeeting + static_cast<double>(bytes) / kBytesPerMicrosecond;
    }
    longest = std::max(longest, time);
  }
  return static_cast<float>(longest);
}

} // namespace

ACCEL_NCCL_API(ncclResult_t, ncclGroupSimulateEnd, ncclSimInfo_t* information) {
  if (information != nullptr &&
      (information->size <
           offsetof(ncclSimInfo_t, estimatedTime) + sizeof(float) ||
       information->magic != kInitial.magic)) {
    nccl::drop_group([](const std::vector<nccl::Plan>&) {});
    nccl::set_last_error(
        "ncclSimInfo_t argument not initialized via NCCL_SIM_INFO_INITIALIZER");
    return ncclInvalidArgument;
  }
  return nccl::drop_group([&](const std::vector<nccl::Plan>& plans) {
    if (information != nullptr) {
      information->estimatedTime = estimate(plans);
    }
  });
}
