// Communicators: how they are brought up, divided and ended, and what they say
// of themselves.
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

/// Adds one of each rank, which shows that a communicator works.
void expect_sum(
    ncclComm_t comm,
    cudaStream_t stream,
    int contribution,
    int sum) {
  const Array<int> value(1, contribution);
  ASSERT_NCCL(ncclAllReduce(
      value.data(), value.data(), 1, ncclInt32, ncclSum, comm, stream));
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(value.values()[0], sum);
}

ncclResult_t wait_for(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return state;
}

ncclConfig_t nonblocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

TEST(Communicator, KnowsItself) {
  run({1, 2}, [](Rank& own) {
    int number = -1;
    EXPECT_NCCL(ncclCommCount(own.comm, &number));
    EXPECT_EQ(number, 3);
    EXPECT_NCCL(ncclCommUserRank(own.comm, &number));
    EXPECT_EQ(number, own.rank);
    EXPECT_NCCL(ncclCommCuDevice(own.comm, &number));
    EXPECT_EQ(number, own.rank);
    ncclResult_t state = ncclInternalError;
    EXPECT_NCCL(ncclCommGetAsyncError(own.comm, &state));
    EXPECT_EQ(state, ncclSuccess);
  });
}

TEST(Communicator, OneThreadHasThemAll) {
  Processes processes;
  processes.start([] {
    ncclComm_t comms[3];
    cudaStream_t streams[3];
    const int devices[] = {2, 0, 1};
    ASSERT_NCCL(ncclCommInitAll(comms, 3, devices));
    int* values[3];
    for (int i = 0; i < 3; ++i) {
      int number = -1;
      EXPECT_NCCL(ncclCommCuDevice(comms[i], &number));
      EXPECT_EQ(number, devices[i]);
      EXPECT_NCCL(ncclCommUserRank(comms[i], &number));
      EXPECT_EQ(number, i);
      ASSERT_CUDA(cudaSetDevice(devices[i]));
      ASSERT_CUDA(cudaStreamCreate(&streams[i]));
      ASSERT_CUDA(cudaMallocManaged(&values[i], sizeof(int)));
      *values[i] = i + 1;
    }
    ASSERT_NCCL(ncclGroupStart());
    for (int i = 0; i < 3; ++i) {
      ASSERT_NCCL(ncclAllReduce(
          values[i], values[i], 1, ncclInt32, ncclSum, comms[i], streams[i]));
    }
    ASSERT_NCCL(ncclGroupEnd());
    for (int i = 0; i < 3; ++i) {
      ASSERT_CUDA(cudaStreamSynchronize(streams[i]));
      EXPECT_EQ(*values[i], 6);
    }
    for (const ncclComm_t comm : comms) {
      EXPECT_NCCL(ncclCommDestroy(comm));
    }
    int device = -1;
    EXPECT_CUDA(cudaGetDevice(&device));
    EXPECT_EQ(device, 1); // the calls leave it as it was
  });
  processes.expect_success();
}

TEST(Communicator, OneThreadBringsUpSeveralInAGroup) {
  Processes processes;
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  for (int process = 0; process < 2; ++process) {
    processes.start([&] {
      ncclComm_t comms[2];
      ASSERT_NCCL(ncclGroupStart());
      for (int i = 0; i < 2; ++i) {
        ASSERT_CUDA(cudaSetDevice(2 * process + i));
        ASSERT_NCCL(ncclCommInitRank(&comms[i], 4, id, 2 * process + i));
      }
      ASSERT_NCCL(ncclGroupEnd());
      for (int i = 0; i < 2; ++i) {
        int number = -1;
        EXPECT_NCCL(ncclCommUserRank(comms[i], &number));
        EXPECT_EQ(number, 2 * process + i);
        EXPECT_NCCL(ncclCommCuDevice(comms[i], &number));
        EXPECT_EQ(number, 2 * process + i);
        EXPECT_NCCL(ncclCommDestroy(comms[i]));
      }
    });
  }
  processes.expect_success();
}

TEST(Communicator, ComesUpWithoutBlocking) {
  run_bare({1, 1}, [](int rank, const ncclUniqueId& id) {
    ASSERT_CUDA(cudaSetDevice(rank));
    ncclConfig_t config = nonblocking();
    ncclComm_t comm = nullptr;
    const ncclResult_t result =
        ncclCommInitRankConfig(&comm, 2, id, rank, &config);
    ASSERT_EQ(result, ncclInProgress);
    ASSERT_NE(comm, nullptr);
    ASSERT_EQ(wait_for(comm), ncclSuccess);
    expect_sum(comm, nullptr, 5, 10);

    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, 0, -rank, &child, &config), ncclInProgress);
    ASSERT_EQ(wait_for(comm), ncclSuccess);
    ASSERT_EQ(wait_for(child), ncclSuccess);
    int number = -1;
    EXPECT_NCCL(ncclCommUserRank(child, &number));
    EXPECT_EQ(number, 1 - rank);

    for (const ncclComm_t each : {child, comm}) {
      EXPECT_EQ(ncclCommFinalize(each), ncclInProgress);
      EXPECT_EQ(wait_for(each), ncclSuccess);
      EXPECT_NCCL(ncclCommDestroy(each));
    }
  });
}

TEST(Communicator, IsNoneBeforeItHasComeUp) {
  run_bare({1}, [](int, const ncclUniqueId& id) {
    ncclConfig_t config = nonblocking();
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
    int number = -1;
    EXPECT_EQ(ncclCommCount(comm, &number), ncclInvalidArgument);
    EXPECT_EQ(
        ncclAllReduce(nullptr, nullptr, 1, ncclInt8, ncclSum, comm, nullptr),
        ncclInvalidArgument);
    // The other rank never comes.
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(Communicator, IsDividedByColorAndKey) {
  run({1, 1, 2}, [](Rank& own) {
    // Even and odd ranks, in reverse.
    ncclComm_t child = nullptr;
    ASSERT_NCCL(
        ncclCommSplit(own.comm, own.rank % 2, -own.rank, &child, nullptr));
    int number = -1;
    EXPECT_NCCL(ncclCommCount(child, &number));
    EXPECT_EQ(number, 2);
    EXPECT_NCCL(ncclCommUserRank(child, &number));
    EXPECT_EQ(number, own.rank < 2 ? 1 : 0);
    expect_sum(child, own.stream, own.rank, own.rank % 2 == 0 ? 2 : 4);
    EXPECT_NCCL(ncclCommDestroy(child));

    // Some stay without one; ranks with the same key keep their order.
    child = nullptr;
    const int color = own.rank == 1 ? NCCL_SPLIT_NOCOLOR : 7;
    ASSERT_NCCL(ncclCommSplit(own.comm, color, 0, &child, nullptr));
    if (own.rank == 1) {
      EXPECT_EQ(child, nullptr);
    } else {
      EXPECT_NCCL(ncclCommUserRank(child, &number));
      EXPECT_EQ(number, own.rank == 0 ? 0 : own.rank - 1);
      expect_sum(child, own.stream, 1, 3);
      EXPECT_NCCL(ncclCommDestroy(child));
    }
    expect_sum(own.comm, own.stream, 1, 4);
  });
}

TEST(Communicator, MayBeMadeAndEndedManyTimes) {
  ncclUniqueId ids[20];
  for (ncclUniqueId& id : ids) {
    ASSERT_NCCL(ncclGetUniqueId(&id));
  }
  run_bare({1, 1}, [&](int rank, const ncclUniqueId&) {
    ASSERT_CUDA(cudaSetDevice(rank));
    for (const ncclUniqueId& id : ids) {
      ncclComm_t comm = nullptr;
      ASSERT_NCCL(ncclCommInitRank(&comm, 2, id, rank));
      expect_sum(comm, nullptr, 1, 2);
      EXPECT_NCCL(ncclCommFinalize(comm));
      EXPECT_NCCL(ncclCommDestroy(comm));
    }
  });
}

std::ptrdiff_t entries(const char* folder) {
  using Iterator = std::filesystem::directory_iterator;
  return std::distance(Iterator(folder), Iterator());
}

TEST(Communicator, LeavesNothingOpen) {
  run_bare({1}, [](int, const ncclUniqueId&) {
    std::ptrdiff_t before = 0;
    for (int i = 0; i < 100; ++i) {
      ncclUniqueId id;
      ASSERT_NCCL(ncclGetUniqueId(&id));
      ncclComm_t comm = nullptr;
      ASSERT_NCCL(ncclCommInitRank(&comm, 1, id, 0));
      expect_sum(comm, nullptr, 1, 1);
      ASSERT_NCCL(ncclCommDestroy(comm));
      if (i == 0) {
        before = entries("/proc/self/fd");
      }
    }
    EXPECT_EQ(entries("/proc/self/fd"), before);
  });
}

TEST(Communicator, ALateRankIsWaitedFor) {
  run({1, 1}, [](Rank& own) {
    if (own.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    expect_sum(own.comm, own.stream, 1, 2);
    ncclResult_t state = ncclInternalError;
    EXPECT_NCCL(ncclCommGetAsyncError(own.comm, &state));
    EXPECT_EQ(state, ncclSuccess);
  });
}

TEST(Communicator, NeedsADeviceOfItsOwn) {
  run_bare({1, 1}, [](int rank, const ncclUniqueId& id) {
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclInvalidUsage);
    EXPECT_EQ(comm, nullptr);
    EXPECT_NE(
        std::strstr(
            ncclGetLastError(nullptr),
            "Duplicate GPU detected : rank 0 and rank 1"),
        nullptr)
        << ncclGetLastError(nullptr);
  });
}

TEST(Communicator, RefusesWhatIsWrong) {
  run_bare({1}, [](int, const ncclUniqueId& id) {
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(nullptr), "Invalid rank requested : 2/2");
    EXPECT_EQ(ncclCommInitRank(&comm, 2, id, -1), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
    const ncclUniqueId zeros{};
    EXPECT_EQ(ncclCommInitRank(&comm, 1, zeros, 0), ncclInvalidArgument);
    ncclConfig_t config = nonblocking();
    config.blocking = 2;
    EXPECT_EQ(
        ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
    config.magic = 0;
    EXPECT_EQ(
        ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
    const int twice[] = {1, 1};
    ncclComm_t comms[2];
    EXPECT_EQ(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
    EXPECT_EQ(ncclCommInitAll(comms, 99, nullptr), ncclUnhandledCudaError);

    ASSERT_NCCL(ncclCommInitRank(&comm, 1, id, 0));
    // An id is for one communicator.
    ncclComm_t again = nullptr;
    EXPECT_EQ(ncclCommInitRank(&again, 1, id, 0), ncclInvalidUsage);
    int number = -1;
    EXPECT_EQ(ncclCommCount(nullptr, &number), ncclInvalidArgument);
    EXPECT_EQ(ncclCommCount(comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommSplit(comm, -2, 0, &again, nullptr), ncclInvalidArgument);
    const Array<int> value(1);
    const auto reduce = [&](int type, int op, int root) {
      return ncclReduce(
          value.data(),
          value.data(),
          1,
          static_cast<ncclDataType_t>(type),
          static_cast<ncclRedOp_t>(op),
          root,
          comm,
          nullptr);
    };
    EXPECT_EQ(reduce(99, ncclSum, 0), ncclInvalidArgument);
    EXPECT_EQ(reduce(-1, ncclSum, 0), ncclInvalidArgument);
    EXPECT_EQ(reduce(ncclInt32, 99, 0), ncclInvalidArgument);
    EXPECT_EQ(reduce(ncclInt32, -1, 0), ncclInvalidArgument);
    EXPECT_EQ(reduce(ncclInt32, ncclSum, 1), ncclInvalidArgument);
    EXPECT_EQ(reduce(ncclInt32, ncclSum, -1), ncclInvalidArgument);
    EXPECT_EQ(
        ncclSend(value.data(), 1, ncclInt32, 1, comm, nullptr),
        ncclInvalidArgument);
    EXPECT_NCCL(reduce(ncclInt32, ncclSum, 0));

    ASSERT_NCCL(ncclCommDestroy(comm));
    EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
    EXPECT_EQ(reduce(ncclInt32, ncclSum, 0), ncclInvalidArgument);
    EXPECT_NCCL(ncclCommDestroy(nullptr));
    EXPECT_NCCL(ncclCommAbort(nullptr));
  });
}

TEST(Communicator, AnIdEndsWithTheProcessThatMadeIt) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  Processes processes;
  processes.start([&] {
    ncclUniqueId id;
    EXPECT_NCCL(ncclGetUniqueId(&id));
    EXPECT_EQ(write(pipes[1], &id, sizeof(id)), ssize_t(sizeof(id)));
  });
  processes.expect_success();
  ncclUniqueId id;
  ASSERT_EQ(read(pipes[0], &id, sizeof(id)), ssize_t(sizeof(id)));
  processes.start([&] {
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclRemoteError);
  });
  processes.expect_success();
}

TEST(Communicator, TheOtherRanksCountTheSame) {
  run_bare({1, 1}, [](int rank, const ncclUniqueId& id) {
    // The second one says that there are three: it is told, and the first one
    // goes on waiting until it gives up.
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ncclComm_t comm = nullptr;
      EXPECT_EQ(ncclCommInitRank(&comm, 3, id, 1), ncclInvalidArgument);
      return;
    }
    ncclConfig_t config = nonblocking();
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(Communicator, OperatorsAreItsOwn) {
  run({2}, [](Rank& own) {
    float factor = 2;
    ncclRedOp_t op = ncclSum;
    ASSERT_NCCL(ncclRedOpCreatePreMulSum(
        &op, &factor, ncclFloat32, ncclScalarHostImmediate, own.comm));
    const Array<float> value(1, 1);
    const Array<int> number(1, 1);
    EXPECT_EQ(
        ncclAllReduce(
            number.data(),
            number.data(),
            1,
            ncclInt32,
            op,
            own.comm,
            own.stream),
        ncclInvalidArgument);
    // An operator may be destroyed as soon as the call has returned.
    ASSERT_NCCL(ncclAllReduce(
        value.data(), value.data(), 1, ncclFloat32, op, own.comm, own.stream));
    EXPECT_NCCL(ncclRedOpDestroy(op, own.comm));
    EXPECT_EQ(ncclRedOpDestroy(op, own.comm), ncclInvalidArgument);
    EXPECT_EQ(ncclRedOpDestroy(ncclSum, own.comm), ncclInvalidArgument);
    own.synchronize();
    EXPECT_EQ(value.values()[0], 4);
  });
}

TEST(Communicator, BuffersAreRegistered) {
  run({1}, [](Rank& own) {
    void* memory = nullptr;
    ASSERT_NCCL(ncclMemAlloc(&memory, 1000));
    void* handle = nullptr;
    EXPECT_NCCL(ncclCommRegister(own.comm, memory, 1000, &handle));
    EXPECT_NE(handle, nullptr);
    EXPECT_EQ(
        ncclCommRegister(own.comm, nullptr, 1000, &handle),
        ncclInvalidArgument);
    EXPECT_NCCL(ncclCommDeregister(own.comm, handle));
    EXPECT_EQ(ncclCommDeregister(own.comm, handle), ncclInvalidUsage);
    EXPECT_NCCL(ncclMemFree(memory));
    EXPECT_EQ(ncclMemFree(&handle), ncclUnhandledCudaError);
  });
}

TEST(Api, TellsItsVersionAndErrors) {
  int version = 0;
  EXPECT_NCCL(ncclGetVersion(&version));
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetErrorString(ncclSuccess), "no error");
  EXPECT_STREQ(
      ncclGetErrorString(ncclRemoteError),
      "remote process exited or there was a network error");
  // Profilers find each function under a second name.
  EXPECT_NCCL(pncclGetVersion(&version));
}

} // namespace
} // namespace accelerator::nccl::testing
