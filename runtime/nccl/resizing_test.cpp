// Communicators of fewer and of more ranks, revoked ones, and those of several
// ids: NCCL 2.23's functions and later ones.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "runtime/nccl/testing/ranks.h"

// The headers are those of an earlier version.
extern "C" {
ncclResult_t ncclCommInitRankScalable(
    ncclComm_t*,
    int,
    int,
    int,
    ncclUniqueId*,
    ncclConfig_t*);
ncclResult_t ncclCommShrink(
    ncclComm_t,
    int*,
    int,
    ncclComm_t*,
    ncclConfig_t*,
    int);
ncclResult_t ncclCommGetUniqueId(ncclComm_t, ncclUniqueId*);
ncclResult_t ncclCommGrow(
    ncclComm_t,
    int,
    const ncclUniqueId*,
    int,
    ncclComm_t*,
    ncclConfig_t*);
ncclResult_t ncclCommRevoke(ncclComm_t, int);
}

namespace accelerator::nccl::testing {
namespace {

constexpr int kDefault = 0;
constexpr int kAbort = 1; // NCCL_SHRINK_ABORT

/// ncclConfig_t of NCCL 2.30, which programs of today pass.
struct LongConfig {
  ncclConfig_t old = NCCL_CONFIG_INITIALIZER;
  unsigned char more[128 - sizeof(ncclConfig_t)] = {};

  explicit LongConfig(bool blocking) {
    old.size = sizeof(LongConfig);
    old.version = 23007;
    old.blocking = blocking ? 1 : 0;
    std::memset(more, 0xff, sizeof(more)); // not to be read
  }
  ncclConfig_t* get() {
    return &old;
  }
};

/// Every rank gives a power of ten, so the sum says who took part.
int sum_of(const ncclComm_t comm, cudaStream_t stream, int rank) {
  int power = 1;
  for (int i = 0; i < rank; ++i) {
    power *= 10;
  }
  const Array<int> value(std::vector<int>{power});
  EXPECT_NCCL(ncclAllReduce(
      value.data(), value.data(), 1, ncclInt, ncclSum, comm, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  return value.values()[0];
}

void expect_member(ncclComm_t comm, int ranks, int rank) {
  int number = -1;
  EXPECT_NCCL(ncclCommCount(comm, &number));
  EXPECT_EQ(number, ranks);
  EXPECT_NCCL(ncclCommUserRank(comm, &number));
  EXPECT_EQ(number, rank);
}

void await(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_NCCL(ncclCommGetAsyncError(comm, &state));
  }
  EXPECT_NCCL(state);
}

TEST(Shrink, LeavesRanksOut) {
  run({1, 2, 1}, [](Rank& own) {
    // Several times, also with others, and the first ones: each by itself.
    const std::vector<std::vector<int>> exclusions = {
        {2}, {1}, {2}, {0, 3}, {0}};
    for (std::vector<int> excluded : exclusions) {
      std::vector<int> members;
      int wanted = 0;
      for (int rank = 0, power = 1; rank < own.ranks; ++rank, power *= 10) {
        if (std::find(excluded.begin(), excluded.end(), rank) ==
            excluded.end()) {
          members.push_back(rank);
          wanted += power;
        }
      }
      const auto found = std::find(members.begin(), members.end(), own.rank);
      if (found == members.end()) {
        continue;
      }
      ncclComm_t child = nullptr;
      ASSERT_NCCL(ncclCommShrink(
          own.comm,
          excluded.data(),
          static_cast<int>(excluded.size()),
          &child,
          nullptr,
          kDefault));
      expect_member(
          child,
          static_cast<int>(members.size()),
          static_cast<int>(found - members.begin()));
      EXPECT_EQ(sum_of(child, own.stream, own.rank), wanted);
      EXPECT_NCCL(ncclCommDestroy(child));
    }
    // All are still there, and a split finds them in step.
    EXPECT_EQ(sum_of(own.comm, own.stream, own.rank), 1111);
    ncclComm_t child = nullptr;
    ASSERT_NCCL(ncclCommSplit(own.comm, 0, own.rank, &child, nullptr));
    EXPECT_EQ(sum_of(child, own.stream, own.rank), 1111);
    EXPECT_NCCL(ncclCommDestroy(child));
  });
}

TEST(Shrink, NeedNotBlock) {
  run({1, 1, 1}, [](Rank& own) {
    if (own.rank == 2) {
      return;
    }
    int excluded[] = {2};
    ncclComm_t child = nullptr;
    LongConfig config(false);
    const ncclResult_t result =
        ncclCommShrink(own.comm, excluded, 1, &child, config.get(), kDefault);
    EXPECT_TRUE(result == ncclInProgress || result == ncclSuccess);
    await(child);
    EXPECT_EQ(sum_of(child, own.stream, own.rank), 11);
    EXPECT_NCCL(ncclCommDestroy(child));
  });
}

// What PyTorch does when a rank has ended: those that are left end what waits
// for it, and go on without it.
TEST(Shrink, GoesOnWithoutARankThatHasEnded) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  // Seen by all processes.
  auto* const has_come = static_cast<std::atomic<bool>*>(mmap(
      nullptr,
      sizeof(std::atomic<bool>),
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS,
      -1,
      0));
  ASSERT_NE(has_come, MAP_FAILED);
  Processes processes;
  pid_t victim = 0;
  for (const int rank : {1, 0, 2}) {
    const pid_t process = processes.start([rank, id, has_come] {
      ASSERT_CUDA(cudaSetDevice(rank));
      ncclComm_t comm = nullptr;
      ASSERT_NCCL(ncclCommInitRank(&comm, 3, id, rank));
      cudaStream_t stream = nullptr;
      ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      if (rank == 1) {
        *has_come = true;
        std::this_thread::sleep_for(std::chrono::seconds(60));
        return;
      }
      const Array<int> value(1);
      ASSERT_NCCL(ncclAllReduce(
          value.data(), value.data(), 1, ncclInt, ncclSum, comm, stream));
      ncclResult_t state = ncclSuccess;
      while (state == ncclSuccess) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_NCCL(ncclCommGetAsyncError(comm, &state));
      }
      EXPECT_EQ(state, ncclRemoteError);
      int excluded[] = {1};
      ncclComm_t child = nullptr;
      EXPECT_EQ(
          ncclCommShrink(comm, excluded, 1, &child, nullptr, kDefault),
          ncclRemoteError);
      EXPECT_EQ(child, nullptr);
      ASSERT_NCCL(ncclCommShrink(comm, excluded, 1, &child, nullptr, kAbort));
      expect_member(child, 2, rank / 2);
      EXPECT_EQ(sum_of(child, stream, rank), 101);
      EXPECT_NCCL(ncclCommAbort(comm));
      EXPECT_NCCL(ncclCommDestroy(child));
    });
    victim = rank == 1 ? process : victim;
  }
  for (int i = 0; !*has_come && i < 30000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  processes.kill(victim);
  processes.expect_success();
}

TEST(Shrink, RefusesWhatIsWrong) {
  run({1, 1}, [](Rank& own) {
    ncclComm_t child = nullptr;
    int myself[] = {own.rank};
    int nobody[] = {2};
    const auto shrink = [&](int* excluded, int count, int flags) {
      return ncclCommShrink(own.comm, excluded, count, &child, nullptr, flags);
    };
    EXPECT_EQ(shrink(myself, 1, kDefault), ncclInvalidArgument);
    EXPECT_EQ(shrink(nobody, 1, kDefault), ncclInvalidArgument);
    EXPECT_EQ(shrink(nobody, 0, kDefault), ncclInvalidArgument);
    EXPECT_EQ(shrink(nullptr, 1, kDefault), ncclInvalidArgument);
    EXPECT_EQ(shrink(nobody, 1, 2), ncclInvalidArgument);
    EXPECT_EQ(child, nullptr);
    EXPECT_EQ(sum_of(own.comm, own.stream, own.rank), 11);
  });
}

TEST(Revoke, EndsWhatWaitsAndAllowsAShrink) {
  run({1, 2}, [](Rank& own) {
    const Array<int> value(1);
    if (own.rank != 2) { // which never comes
      ASSERT_NCCL(ncclAllReduce(
          value.data(),
          value.data(),
          1,
          ncclInt,
          ncclSum,
          own.comm,
          own.stream));
    }
    EXPECT_EQ(ncclCommRevoke(own.comm, 1), ncclInvalidArgument);
    ASSERT_NCCL(ncclCommRevoke(own.comm, 0));
    own.synchronize();
    ncclResult_t state = ncclInternalError;
    EXPECT_NCCL(ncclCommGetAsyncError(own.comm, &state));
    EXPECT_NCCL(state);
    EXPECT_EQ(
        ncclAllReduce(
            value.data(),
            value.data(),
            1,
            ncclInt,
            ncclSum,
            own.comm,
            own.stream),
        ncclInvalidUsage);
    EXPECT_STREQ(
        ncclGetLastError(nullptr), "the communicator has been revoked");
    if (own.rank != 1) {
      int excluded[] = {1};
      ncclComm_t child = nullptr;
      ASSERT_NCCL(
          ncclCommShrink(own.comm, excluded, 1, &child, nullptr, kDefault));
      EXPECT_EQ(sum_of(child, own.stream, own.rank), 101);
      EXPECT_NCCL(ncclCommDestroy(child));
    }
  });
}

TEST(Grow, AddsRanks) {
  // Ranks 0 and 1 are there; 2 and 3 come by an id that rank 1 makes.
  ncclUniqueId first;
  ASSERT_NCCL(ncclGetUniqueId(&first));
  run_bare({4}, [first](int rank, const ncclUniqueId&) {
    static std::atomic<bool> made{false};
    static ncclUniqueId shared;
    ASSERT_CUDA(cudaSetDevice(rank));
    ncclComm_t comm = nullptr;
    ncclComm_t grown = nullptr;
    if (rank < 2) {
      ASSERT_NCCL(ncclCommInitRank(&comm, 2, first, rank));
      if (rank == 1) {
        ASSERT_NCCL(ncclCommGetUniqueId(comm, &shared));
        made = true;
      }
      EXPECT_EQ(
          ncclCommGrow(comm, 4, nullptr, rank, &grown, nullptr),
          ncclInvalidArgument);
      EXPECT_EQ(
          ncclCommGrow(comm, 1, nullptr, -1, &grown, nullptr),
          ncclInvalidArgument);
      ASSERT_NCCL(ncclCommGrow(
          comm, 4, rank == 1 ? &shared : nullptr, -1, &grown, nullptr));
    } else {
      while (!made) {
        std::this_thread::yield();
      }
      EXPECT_EQ(
          ncclCommGrow(nullptr, 4, nullptr, rank, &grown, nullptr),
          ncclInvalidArgument);
      ASSERT_NCCL(ncclCommGrow(nullptr, 4, &shared, rank, &grown, nullptr));
    }
    expect_member(grown, 4, rank);
    EXPECT_EQ(sum_of(grown, nullptr, rank), 1111);
    EXPECT_NCCL(ncclCommDestroy(grown));
    if (comm != nullptr) {
      EXPECT_EQ(sum_of(comm, nullptr, rank), 11);
      EXPECT_NCCL(ncclCommDestroy(comm));
    }
  });
}

std::ptrdiff_t open_files() {
  using Iterator = std::filesystem::directory_iterator;
  return std::distance(Iterator("/proc/self/fd"), Iterator());
}

TEST(Scalable, RanksMeetBySeveralIds) {
  ncclUniqueId other;
  ASSERT_NCCL(ncclGetUniqueId(&other));
  const auto body = [other](int rank, const ncclUniqueId& id) {
    ASSERT_CUDA(cudaSetDevice(rank));
    ncclUniqueId ids[] = {id, other};
    ncclComm_t comm = nullptr;
    LongConfig config(true);
    EXPECT_EQ(
        ncclCommInitRankScalable(&comm, 3, rank, 0, ids, config.get()),
        ncclInvalidArgument);
    ASSERT_NCCL(ncclCommInitRankScalable(&comm, 3, rank, 2, ids, config.get()));
    expect_member(comm, 3, rank);
    EXPECT_EQ(sum_of(comm, nullptr, rank), 111);
    EXPECT_NCCL(ncclCommDestroy(comm));
  };
  run_bare({1, 2}, body);
}

TEST(Scalable, LeavesNoIdOpen) {
  run_bare({1}, [](int, const ncclUniqueId&) {
    std::ptrdiff_t before = 0;
    for (int i = 0; i < 10; ++i) {
      ncclUniqueId ids[3];
      for (ncclUniqueId& id : ids) {
        ASSERT_NCCL(ncclGetUniqueId(&id));
      }
      ncclComm_t comm = nullptr;
      ASSERT_NCCL(ncclCommInitRankScalable(&comm, 1, 0, 3, ids, nullptr));
      EXPECT_EQ(sum_of(comm, nullptr, 0), 1);
      ASSERT_NCCL(ncclCommDestroy(comm));
      before = i == 0 ? open_files() : before;
    }
    EXPECT_EQ(open_files(), before);
  });
}

TEST(Config, OfALaterVersionIsReadAsFarAsItIsKnown) {
  run_bare({1, 1}, [](int rank, const ncclUniqueId& id) {
    ASSERT_CUDA(cudaSetDevice(rank));
    LongConfig config(false);
    ncclComm_t comm = nullptr;
    EXPECT_EQ(
        ncclCommInitRankConfig(&comm, 2, id, rank, config.get()),
        ncclInProgress);
    await(comm);
    EXPECT_EQ(sum_of(comm, nullptr, rank), 11);
    EXPECT_NCCL(ncclCommDestroy(comm));
    config.old.size = 16; // without the first setting
    EXPECT_EQ(
        ncclCommInitRankConfig(&comm, 2, id, rank, config.get()),
        ncclInvalidArgument);
  });
}

} // namespace
} // namespace accelerator::nccl::testing
