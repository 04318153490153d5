// Communicators of fewer and more ranks than another has: NCCL API,
// communicator creation and management functions, since 2.27.
#include <string>
#include <vector>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/group.h"
#include "runtime/nccl/init.h"

namespace nccl = accelerator::nccl;
using nccl::require;

namespace {

// Values of the headers of NCCL 2.30.
constexpr int kShrinkDefault = 0;
constexpr int kShrinkAbort = 1;
constexpr int kRevokeDefault = 0;
constexpr int kNoRank = -1; // of a rank that has one already

} // namespace

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommInitRankScalable,
    ncclComm_t* comm,
    int ranks,
    int rank,
    int id_count,
    ncclUniqueId* ids,
    ncclConfig_t* config) {
  return nccl::in_group([&] {
    require(
        id_count > 0 && ids != nullptr,
        ncclInvalidArgument,
        "ncclCommInitRankScalable : it takes one ncclUniqueId at least");
    // All ranks have the same ids, and can all meet by the first.
    nccl::begin_init(comm, ranks, ids[0], rank, config);
    for (int i = 1; i < id_count; ++i) {
      nccl::Board::discard(ids[i]);
    }
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommShrink,
    ncclComm_t comm,
    int* excluded,
    int excluded_count,
    ncclComm_t* child,
    ncclConfig_t* config,
    int flags) {
  return nccl::in_group([&] {
    require(
        flags == kShrinkDefault || flags == kShrinkAbort,
        ncclInvalidArgument,
        "ncclCommShrink : invalid flags " + std::to_string(flags));
    require(
        excluded != nullptr && excluded_count > 0,
        ncclInvalidArgument,
        "ncclCommShrink : it takes one rank at least to exclude");
    nccl::begin_shrink(
        comm,
        std::vector<int>(excluded, excluded + excluded_count),
        flags == kShrinkAbort,
        child,
        config);
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommGetUniqueId,
    ncclComm_t comm,
    ncclUniqueId* id) {
  return nccl::call([&] {
    nccl::find(comm)->require_ready();
    require(id != nullptr, ncclInvalidArgument, "uniqueId argument is NULL");
    *id = nccl::Board::create();
    return ncclSuccess;
  });
}

ACCEL_NCCL_API(
    ncclResult_t,
    ncclCommGrow,
    ncclComm_t comm,
    int ranks,
    const ncclUniqueId* id,
    int rank,
    ncclComm_t* child,
    ncclConfig_t* config) {
  return nccl::in_group([&] {
    if (comm != nullptr) {
      require(
          rank == kNoRank,
          ncclInvalidArgument,
          "ncclCommGrow : a rank that there is passes -1, not " +
              std::to_string(rank));
      nccl::begin_grow(comm, ranks, id, child, config);
    } else {
      require(
          id != nullptr,
          ncclInvalidArgument,
          "ncclCommGrow : a new rank passes the id that a rank has made");
      nccl::begin_init(child, ranks, *id, rank, config);
    }
  });
}

ACCEL_NCCL_API(ncclResult_t, ncclCommRevoke, ncclComm_t comm, int flags) {
  return nccl::call([&] {
    const auto communicator = nccl::find(comm);
    require(
        flags == kRevokeDefault,
        ncclInvalidArgument,
        "ncclCommRevoke : invalid flags " + std::to_string(flags));
    communicator->revoke();
    return ncclSuccess;
  });
}
