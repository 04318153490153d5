// What the other ranks see when one is killed or aborted.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kDeadline = std::chrono::seconds(20);

void pause() {
  std::this_thread::sleep_for(milliseconds(1));
}

/// Waits until the communicator says that something is wrong.
ncclResult_t wait_for_error(ncclComm_t comm) {
  ncclResult_t state = ncclSuccess;
  const auto end = Clock::now() + kDeadline;
  while (state == ncclSuccess && Clock::now() < end) {
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    pause();
  }
  return state;
}

/// The stream ends, with an error or without.
void expect_end(cudaStream_t stream) {
  const auto end = Clock::now() + kDeadline;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    ASSERT_LT(Clock::now(), end) << "the stream hangs";
    pause();
  }
}

/// Files with a name that somebody might leave behind.
std::vector<std::string> left_behind() {
  std::vector<std::string> names;
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder, error)) {
      const std::string path = entry.path();
      if (path.find("nccl") != std::string::npos ||
          path.find("cudasim") != std::string::npos ||
          path.find("accel") != std::string::npos) {
        names.push_back(path);
      }
    }
  }
  return names;
}

/// Work of all kinds, without an end.
ncclResult_t next_operation(const Rank& own, int number, float* data) {
  constexpr std::size_t kCount = 40'000;
  const int next = (own.rank + 1) % own.ranks;
  const int before = (own.rank + own.ranks - 1) % own.ranks;
  switch (number % 4) {
    case 0:
      return ncclAllReduce(
          data, data, kCount, ncclFloat32, ncclSum, own.comm, own.stream);
    case 1:
      return ncclBroadcast(
          data, data, kCount, ncclFloat32, 0, own.comm, own.stream);
    case 2:
      return ncclReduceScatter(
          data,
          data + kCount,
          kCount / 8,
          ncclFloat32,
          ncclMax,
          own.comm,
          own.stream);
    default:
      ncclGroupStart();
      ncclSend(data, kCount, ncclFloat32, next, own.comm, own.stream);
      ncclRecv(
          data + kCount, kCount, ncclFloat32, before, own.comm, own.stream);
      return ncclGroupEnd();
  }
}

/// What a rank does that survives: it works until it hears of the death, then
/// gives up.
void survive(Rank& own) {
  const Array<float> data(80'000, 1);
  const auto end = Clock::now() + kDeadline;
  ncclResult_t state = ncclSuccess;
  for (int number = 0; state == ncclSuccess && Clock::now() < end; ++number) {
    state = next_operation(own, number, data.data());
    while (state == ncclSuccess &&
           cudaStreamQuery(own.stream) == cudaErrorNotReady) {
      pause();
      EXPECT_NCCL(ncclCommGetAsyncError(own.comm, &state));
      ASSERT_LT(Clock::now(), end) << "rank " << own.rank << " hears nothing";
    }
  }
  EXPECT_EQ(state, ncclRemoteError);
  EXPECT_NE(
      std::strstr(ncclGetLastError(own.comm), "its process has ended"), nullptr)
      << ncclGetLastError(own.comm);
  EXPECT_NCCL(ncclCommAbort(own.comm));
  own.comm = nullptr;
  expect_end(own.stream);
}

/// When a rank is killed.
enum class From {
  kItsStart, // perhaps before it has come
  kItsJoining,
};

/// Brings up ranks, a process each, kills one after a while, and lets the
/// others survive.
void kill_one(int ranks, int victim, From from, milliseconds after) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  int joined[2];
  ASSERT_EQ(pipe(joined), 0);
  Processes processes;
  pid_t to_kill = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t process = processes.start([&, rank] {
      if (from == From::kItsStart) {
        // One that never comes can only be given up.
        setenv("TORCH_CUDA_TIMEOUT", "4", 1);
      }
      Rank own;
      own.rank = rank;
      own.ranks = ranks;
      ASSERT_CUDA(cudaSetDevice(rank));
      ASSERT_CUDA(
          cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking));
      const ncclResult_t result = ncclCommInitRank(&own.comm, ranks, id, rank);
      if (result != ncclSuccess && from == From::kItsStart) {
        EXPECT_TRUE(result == ncclRemoteError || result == ncclSystemError);
        EXPECT_EQ(own.comm, nullptr);
        return;
      }
      ASSERT_NCCL(result);
      if (rank == victim) {
        EXPECT_EQ(write(joined[1], "", 1), 1);
      }
      survive(own);
    });
    if (rank == victim) {
      to_kill = process;
    }
  }
  char byte = 0;
  if (from == From::kItsJoining) {
    ASSERT_EQ(read(joined[0], &byte, 1), 1);
  }
  close(joined[0]);
  close(joined[1]);
  std::this_thread::sleep_for(after);
  processes.kill(to_kill);
  processes.expect_success();
}

TEST(Death, IsNoticedByAllOthers) {
  kill_one(2, 1, From::kItsJoining, milliseconds(100));
  kill_one(3, 0, From::kItsJoining, milliseconds(100));
  kill_one(4, 2, From::kItsJoining, milliseconds(100));
}

// NCCL_TEST_KILLS says how many ranks are killed, NCCL_TEST_SEED which and
// when.
TEST(Death, AtAnyMoment) {
  const auto before = left_behind();
  const unsigned seed =
      from_environment("NCCL_TEST_SEED", std::random_device{}());
  SCOPED_TRACE("NCCL_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const unsigned kills = from_environment("NCCL_TEST_KILLS", 6);
  for (unsigned i = 0; i < kills; ++i) {
    const int ranks = 2 + static_cast<int>(random() % 3);
    const int victim = static_cast<int>(random() % 1000) % ranks;
    const From from = random() % 3 == 0 ? From::kItsStart : From::kItsJoining;
    const milliseconds after(random() % (from == From::kItsStart ? 30 : 300));
    SCOPED_TRACE(
        std::to_string(ranks) + " ranks, " + std::to_string(victim) +
        " is killed " + std::to_string(after.count()) + " ms after " +
        (from == From::kItsStart ? "its start" : "it has come"));
    kill_one(ranks, victim, from, after);
  }
  EXPECT_EQ(left_behind(), before);
}

// One that has ended well is one that is missed as well.
TEST(Death, AnExitIsOne) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(1, 1);
    if (own.rank == 1) {
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    ASSERT_NCCL(ncclAllReduce(
        value.data(),
        value.data(),
        1,
        ncclInt32,
        ncclSum,
        own.comm,
        own.stream));
    EXPECT_EQ(wait_for_error(own.comm), ncclRemoteError);
    // Like on a GPU, the stream waits until somebody gives up.
    EXPECT_EQ(cudaStreamQuery(own.stream), cudaErrorNotReady);
    EXPECT_EQ(
        ncclAllReduce(
            value.data(),
            value.data(),
            1,
            ncclInt32,
            ncclSum,
            own.comm,
            own.stream),
        ncclRemoteError);
    EXPECT_NCCL(ncclCommAbort(own.comm));
    own.comm = nullptr;
    own.synchronize();
    EXPECT_EQ(value.values()[0], 1);
  });
}

TEST(Death, OfARankThatNobodyWaitsForIsNoError) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(1, 1);
    ASSERT_NCCL(ncclAllReduce(
        value.data(),
        value.data(),
        1,
        ncclInt32,
        ncclSum,
        own.comm,
        own.stream));
    own.synchronize();
    if (own.rank == 1) {
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    std::this_thread::sleep_for(milliseconds(300));
    ncclResult_t state = ncclInternalError;
    EXPECT_NCCL(ncclCommGetAsyncError(own.comm, &state));
    EXPECT_EQ(state, ncclSuccess);
  });
}

TEST(Death, DuringASplit) {
  run({1, 1}, [](Rank& own) {
    if (own.rank == 1) {
      _exit(0);
    }
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommSplit(own.comm, 0, 0, &child, nullptr), ncclRemoteError);
    EXPECT_EQ(child, nullptr);
  });
}

// What a program that was never started cannot tell anybody.
TEST(Death, BeforeARankHasComeEndsTheCallsOfTheOthers) {
  Processes processes;
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  for (int rank = 0; rank < 2; ++rank) {
    processes.start([&, rank] {
      setenv("TORCH_CUDA_TIMEOUT", "1", 1);
      ncclComm_t comm = nullptr;
      ASSERT_CUDA(cudaSetDevice(rank));
      const ncclResult_t result = ncclCommInitRank(&comm, 3, id, rank);
      // Who gives up first may have ended when the other one looks.
      EXPECT_TRUE(result == ncclSystemError || result == ncclRemoteError);
      EXPECT_EQ(comm, nullptr);
      if (result == ncclSystemError) {
        EXPECT_NE(
            std::strstr(ncclGetLastError(nullptr), "(TORCH_CUDA_TIMEOUT)"),
            nullptr);
      }
    });
  }
  processes.expect_success();
}

TEST(Abort, EndsWhatWaits) {
  for (const Layout& layout : {Layout{2}, Layout{1, 1}}) {
    run(layout, [](Rank& own) {
      const Array<int> value(100'000, 1);
      if (own.rank == 0) {
        for (int i = 0; i < 3; ++i) {
          ASSERT_NCCL(ncclAllReduce(
              value.data(),
              value.data(),
              100'000,
              ncclInt32,
              ncclSum,
              own.comm,
              own.stream));
        }
        std::this_thread::sleep_for(milliseconds(50));
        EXPECT_EQ(cudaStreamQuery(own.stream), cudaErrorNotReady);
      }
      EXPECT_NCCL(ncclCommAbort(own.comm));
      own.comm = nullptr;
      own.synchronize();
      EXPECT_EQ(value.values()[0], 1);
    });
  }
}

// A host that runs ahead waits for its stream in a launch; another thread can
// end that.
TEST(Abort, EndsALaunchThatWaits) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(1, 1);
    if (own.rank == 1) {
      std::this_thread::sleep_for(milliseconds(500));
      return;
    }
    std::atomic<bool> ended{false};
    std::thread launches([&, comm = own.comm] {
      ASSERT_CUDA(cudaSetDevice(own.rank));
      while (ncclAllReduce(
                 value.data(),
                 value.data(),
                 1,
                 ncclInt32,
                 ncclSum,
                 comm,
                 own.stream) == ncclSuccess) {
      }
      ended = true;
    });
    std::this_thread::sleep_for(milliseconds(300));
    EXPECT_FALSE(ended);
    EXPECT_NCCL(ncclCommAbort(own.comm));
    own.comm = nullptr;
    launches.join();
    own.synchronize();
    EXPECT_EQ(value.values()[0], 1);
  });
}

// A program may end in the middle of everything.
TEST(Abort, IsNotNeededToExit) {
  Processes processes;
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  for (int rank = 0; rank < 2; ++rank) {
    processes.start([&, rank] {
      ncclComm_t comm = nullptr;
      ASSERT_CUDA(cudaSetDevice(rank));
      ASSERT_NCCL(ncclCommInitRank(&comm, 2, id, rank));
      const Array<int> value(1, 1);
      if (rank == 0) {
        ASSERT_NCCL(ncclAllReduce(
            value.data(), value.data(), 1, ncclInt32, ncclSum, comm, nullptr));
      }
      std::exit(::testing::Test::HasFailure() ? 1 : 0);
    });
  }
  processes.expect_success();
}

TEST(Abort, OfASendGivesItsMemoryBack) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(100'000, 1);
    if (own.rank == 0) {
      ASSERT_NCCL(
          ncclSend(value.data(), 100'000, ncclInt32, 1, own.comm, own.stream));
      std::this_thread::sleep_for(milliseconds(50));
      EXPECT_NCCL(ncclCommAbort(own.comm));
      own.comm = nullptr;
      own.synchronize();
    } else {
      std::this_thread::sleep_for(milliseconds(200));
      ASSERT_NCCL(
          ncclRecv(value.data(), 100'000, ncclInt32, 0, own.comm, own.stream));
      // The sender has left, its process perhaps too.
      const auto end = Clock::now() + milliseconds(200);
      while (Clock::now() < end) {
        ASSERT_EQ(cudaStreamQuery(own.stream), cudaErrorNotReady);
        pause();
      }
      EXPECT_NCCL(ncclCommAbort(own.comm));
      own.comm = nullptr;
      own.synchronize();
    }
  });
}

} // namespace
} // namespace accelerator::nccl::testing
