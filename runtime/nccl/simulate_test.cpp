// Groups that are only estimated, and functions that refuse.
#include <cstdint>
#include <string>

#include "runtime/nccl/testing/ranks.h"

// The headers are those of an earlier version.
extern "C" {
ncclResult_t ncclCommWindowRegister(ncclComm_t, void*, size_t, void**, int);
ncclResult_t ncclCommWindowDeregister(ncclComm_t, void*);
ncclResult_t ncclWinGetUserPtr(ncclComm_t, void*, void**);
ncclResult_t ncclDevCommCreate(ncclComm_t, const void*, void*);
ncclResult_t ncclDevCommDestroy(ncclComm_t, const void*);
ncclResult_t ncclGetPeerDevicePointer(void*, size_t, int, void**);
ncclResult_t ncclGetLsaMultimemDevicePointer(void*, size_t, void**);
ncclResult_t ncclPutSignal(
    const void*,
    size_t,
    ncclDataType_t,
    int,
    void*,
    size_t,
    int,
    int,
    unsigned,
    ncclComm_t,
    cudaStream_t);
ncclResult_t ncclSignal(int, int, int, unsigned, ncclComm_t, cudaStream_t);
ncclResult_t ncclWaitSignal(int, void*, ncclComm_t, cudaStream_t);
ncclResult_t ncclCommSuspend(ncclComm_t, int);
ncclResult_t ncclCommResume(ncclComm_t);
ncclResult_t ncclCommMemStats(ncclComm_t, int, std::uint64_t*);
}

namespace accelerator::nccl::testing {
namespace {

/// What a group of so many sums is estimated to take.
float estimate(const Rank& own, const Array<float>& values, int sums) {
  ncclSimInfo_t information = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_NCCL(ncclGroupStart());
  for (int i = 0; i < sums; ++i) {
    EXPECT_NCCL(ncclAllReduce(
        values.data(),
        values.data(),
        1000000,
        ncclFloat,
        ncclSum,
        own.comm,
        own.stream));
  }
  EXPECT_NCCL(ncclGroupSimulateEnd(&information));
  return information.estimatedTime;
}

TEST(Simulation, EstimatesWithoutDoing) {
  run({1, 1}, [](Rank& own) {
    const Array<float> values(1000000, 1.0F);
    EXPECT_EQ(estimate(own, values, 0), 0);
    const float one = estimate(own, values, 1);
    EXPECT_GT(one, 0);
    EXPECT_FLOAT_EQ(estimate(own, values, 3), 3 * one);
    own.synchronize();
    EXPECT_EQ(values.values()[0], 1);
    // The ranks are in step, though this one has simulated more.
    if (own.rank == 0) {
      estimate(own, values, 1);
    }
    ASSERT_NCCL(ncclAllReduce(
        values.data(),
        values.data(),
        1000000,
        ncclFloat,
        ncclSum,
        own.comm,
        own.stream));
    own.synchronize();
    EXPECT_EQ(values.values()[999999], 2);
  });
}

TEST(Simulation, RefusesWhatIsWrong) {
  run_bare({1}, [](int, const ncclUniqueId& id) {
    ncclSimInfo_t information = NCCL_SIM_INFO_INITIALIZER;
    EXPECT_EQ(ncclGroupSimulateEnd(&information), ncclInvalidUsage);
    ASSERT_NCCL(ncclGroupStart());
    information.magic = 0;
    EXPECT_EQ(ncclGroupSimulateEnd(&information), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage); // the group is ended
    information = NCCL_SIM_INFO_INITIALIZER;
    ncclComm_t comm = nullptr;
    ASSERT_NCCL(ncclGroupStart());
    ASSERT_NCCL(ncclCommInitRank(&comm, 1, id, 0));
    EXPECT_EQ(ncclGroupSimulateEnd(&information), ncclInvalidUsage);
    EXPECT_EQ(information.estimatedTime, -1);
  });
}

TEST(Refusals, NameTheFunction) {
  run({1}, [](Rank& own) {
    const auto expect_refused = [](ncclResult_t result, const char* name) {
      EXPECT_EQ(result, ncclInvalidUsage) << name;
      EXPECT_EQ(
          std::string(ncclGetLastError(nullptr))
              .find(
                  std::string(name) + " : torch_cuda's NCCL does not support "),
          0u)
          << ncclGetLastError(nullptr);
    };
    void* out = nullptr;
#define EXPECT_REFUSED(name, ...) expect_refused(name(__VA_ARGS__), #name)
    EXPECT_REFUSED(ncclCommWindowRegister, own.comm, &out, 8, &out, 0);
    EXPECT_REFUSED(ncclCommWindowDeregister, own.comm, nullptr);
    EXPECT_REFUSED(ncclWinGetUserPtr, own.comm, nullptr, &out);
    EXPECT_REFUSED(ncclDevCommCreate, own.comm, nullptr, &out);
    EXPECT_REFUSED(ncclDevCommDestroy, own.comm, nullptr);
    EXPECT_REFUSED(ncclGetPeerDevicePointer, nullptr, 0, 0, &out);
    EXPECT_REFUSED(ncclGetLsaMultimemDevicePointer, nullptr, 0, &out);
    EXPECT_REFUSED(
        ncclPutSignal,
        &out,
        1,
        ncclInt8,
        0,
        nullptr,
        0,
        0,
        0,
        0,
        own.comm,
        own.stream);
    EXPECT_REFUSED(ncclSignal, 0, 0, 0, 0, own.comm, own.stream);
    EXPECT_REFUSED(ncclWaitSignal, 0, nullptr, own.comm, own.stream);
    EXPECT_REFUSED(ncclCommSuspend, own.comm, 1);
    EXPECT_REFUSED(ncclCommResume, own.comm);
#undef EXPECT_REFUSED
    EXPECT_EQ(out, nullptr);
  });
}

TEST(Statistics, SayThatNoMemoryOfTheDeviceIsNcclsOwn) {
  run({1}, [](Rank& own) {
    for (int statistic = 0; statistic < 4; ++statistic) {
      std::uint64_t value = 1;
      EXPECT_NCCL(ncclCommMemStats(own.comm, statistic, &value));
      EXPECT_EQ(value, 0u);
    }
    std::uint64_t value = 1;
    EXPECT_EQ(ncclCommMemStats(own.comm, 4, &value), ncclInvalidArgument);
    EXPECT_EQ(ncclCommMemStats(nullptr, 0, &value), ncclInvalidArgument);
  });
}

} // namespace
} // namespace accelerator::nccl::testing
