// How operations go together with streams, groups and graphs.
#include <chrono>
#include <future>
#include <thread>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

ncclResult_t add(Rank& own, const Array<int>& value, cudaStream_t stream) {
  return ncclAllReduce(
      value.data(), value.data(), 1, ncclInt32, ncclSum, own.comm, stream);
}

using cudart::testing::OwnStream;

// The call returns, other streams go on; only what is behind it waits.
TEST(Streams, OnlyTheirOwnWaits) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(1, 1);
    const Array<int> other(1, 1);
    const Array<int> small(1, 1);
    if (own.rank == 0) {
      ASSERT_NCCL(add(own, value, own.stream));
      const OwnStream elsewhere;
      ASSERT_CUDA(cudaMemsetAsync(other.data(), 0, 4, elsewhere));
      ASSERT_CUDA(cudaStreamSynchronize(elsewhere));
      EXPECT_EQ(cudaStreamQuery(own.stream), cudaErrorNotReady);
      // The other rank comes when it is told to, through another communicator.
    }
    ncclComm_t child = nullptr;
    ASSERT_NCCL(ncclCommSplit(own.comm, 0, 0, &child, nullptr));
    if (own.rank == 1) {
      ASSERT_NCCL(add(own, value, own.stream));
    }
    own.synchronize();
    EXPECT_EQ(value.values()[0], 2);
    EXPECT_NCCL(ncclCommDestroy(child));
  });
}

// A rank that goes waits for what it has begun, and leaves no trace of that.
TEST(Streams, AreDoneWhenTheirCommunicatorIsDestroyed) {
  run_bare({1, 1}, [](int rank, const ncclUniqueId& id) {
    ASSERT_CUDA(cudaSetDevice(rank));
    ncclComm_t comm = nullptr;
    ASSERT_NCCL(ncclCommInitRank(&comm, 2, id, rank));
    const Array<int> value(1, 1);
    const OwnStream stream;
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ASSERT_NCCL(ncclAllReduce(
        value.data(), value.data(), 1, ncclInt32, ncclSum, comm, stream));
    EXPECT_NCCL(ncclCommDestroy(comm));
    EXPECT_CUDA(cudaGetLastError());
    EXPECT_CUDA(cudaStreamQuery(stream));
    EXPECT_EQ(value.values()[0], 2);
  });
}

TEST(Streams, OperationsFollowTheCallsAcrossStreams) {
  run({1, 2}, [](Rank& own) {
    const OwnStream streams[3];
    const Array<int> value(1, 1);
    int expected = 1;
    for (int i = 0; i < 12; ++i) {
      ASSERT_NCCL(add(own, value, streams[(i + own.rank) % 3]));
      expected *= own.ranks;
    }
    ASSERT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(value.values()[0], expected);
  });
}

TEST(Groups, HaveOperationsOfSeveralStreams) {
  run({1, 1}, [](Rank& own) {
    const OwnStream streams[2];
    const Array<int> first(1, 1), second(1, 2);
    ASSERT_NCCL(ncclGroupStart());
    ASSERT_NCCL(add(own, first, streams[0]));
    ASSERT_NCCL(ncclGroupStart()); // one within the other
    ASSERT_NCCL(add(own, second, streams[1]));
    ASSERT_NCCL(ncclGroupEnd());
    EXPECT_CUDA(cudaStreamSynchronize(streams[0]));
    EXPECT_EQ(first.values()[0], 1); // nothing begins before the end
    ASSERT_NCCL(ncclGroupEnd());
    for (const OwnStream& stream : streams) {
      ASSERT_CUDA(cudaStreamSynchronize(stream));
      EXPECT_EQ(first.values()[0], 2);
      EXPECT_EQ(second.values()[0], 4);
    }
  });
}

TEST(Groups, DoNothingWhenACallIsWrong) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(1, 1);
    ASSERT_NCCL(ncclGroupStart());
    EXPECT_NCCL(add(own, value, own.stream));
    EXPECT_EQ(
        ncclSend(value.data(), 1, ncclInt32, 9, own.comm, own.stream),
        ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    own.synchronize();
    EXPECT_EQ(value.values()[0], 1);
    // And the next one is as ever.
    EXPECT_NCCL(add(own, value, own.stream));
    own.synchronize();
    EXPECT_EQ(value.values()[0], 2);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  });
}

TEST(Groups, HaveSeveralCommunicatorsOfARank) {
  run({1, 1}, [](Rank& own) {
    ncclComm_t child = nullptr;
    ASSERT_NCCL(ncclCommSplit(own.comm, 0, 0, &child, nullptr));
    const OwnStream elsewhere;
    const Array<int> first(1, 1), second(1, 2);
    ASSERT_NCCL(ncclGroupStart());
    for (int i = 0; i < 2; ++i) {
      // Each rank begins with another one.
      if (i == own.rank) {
        EXPECT_NCCL(add(own, first, own.stream));
      } else {
        EXPECT_NCCL(ncclAllReduce(
            second.data(),
            second.data(),
            1,
            ncclInt32,
            ncclSum,
            child,
            elsewhere));
      }
    }
    ASSERT_NCCL(ncclGroupEnd());
    own.synchronize();
    EXPECT_EQ(first.values()[0], 2);
    ASSERT_CUDA(cudaStreamSynchronize(elsewhere));
    EXPECT_EQ(second.values()[0], 4);
    EXPECT_NCCL(ncclCommDestroy(child));
  });
}

TEST(Communicators, WorkAtTheSameTime) {
  run({1, 2}, [](Rank& own) {
    constexpr int kMany = 6;
    std::vector<std::thread> threads;
    for (int i = 0; i < kMany; ++i) {
      ncclComm_t child = nullptr;
      ASSERT_NCCL(ncclCommSplit(own.comm, 0, i * own.rank, &child, nullptr));
      threads.emplace_back([&own, child, i] {
        ASSERT_CUDA(cudaSetDevice(own.rank));
        const OwnStream stream;
        const Array<int> value(20'000, 1);
        int expected = 1;
        for (int k = 0; k < 15; ++k) {
          ASSERT_NCCL(ncclAllReduce(
              value.data(),
              value.data(),
              20'000 - static_cast<std::size_t>(i),
              ncclInt32,
              ncclSum,
              child,
              stream));
          expected *= own.ranks;
        }
        ASSERT_CUDA(cudaStreamSynchronize(stream));
        EXPECT_EQ(value.values()[19'990], expected);
        EXPECT_NCCL(ncclCommDestroy(child));
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
}

TEST(Graphs, RunAgainAndAgain) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(1, 1);
    const Array<int> sent(1, own.rank), received(1, -1);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(
        cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal));
    ASSERT_NCCL(add(own, value, own.stream));
    ASSERT_NCCL(ncclGroupStart());
    ASSERT_NCCL(ncclSend(
        sent.data(), 1, ncclInt32, 1 - own.rank, own.comm, own.stream));
    ASSERT_NCCL(ncclRecv(
        received.data(), 1, ncclInt32, 1 - own.rank, own.comm, own.stream));
    ASSERT_NCCL(ncclGroupEnd());
    ASSERT_CUDA(cudaStreamEndCapture(own.stream, &graph));
    EXPECT_EQ(value.values()[0], 1);
    ASSERT_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    ASSERT_CUDA(cudaGraphDestroy(graph));
    int expected = 1;
    for (int i = 0; i < 10; ++i) {
      ASSERT_CUDA(cudaGraphLaunch(exec, own.stream));
      ASSERT_NCCL(add(own, value, own.stream)); // and what is in none
      expected *= 4;
    }
    own.synchronize();
    EXPECT_EQ(value.values()[0], expected);
    EXPECT_EQ(received.values()[0], 1 - own.rank);
    ASSERT_CUDA(cudaGraphExecDestroy(exec));
  });
}

TEST(Graphs, KeepTheOrderOfTheCallsAcrossStreams) {
  run({1, 1}, [](Rank& own) {
    const OwnStream other;
    const Array<int> value(1, 1);
    cudaEvent_t event = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    ASSERT_CUDA(
        cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal));
    ASSERT_CUDA(cudaEventRecord(event, own.stream));
    ASSERT_CUDA(cudaStreamWaitEvent(other, event, 0));
    for (int i = 0; i < 3; ++i) {
      ASSERT_NCCL(add(own, value, own.stream));
      ASSERT_NCCL(add(own, value, other));
    }
    ASSERT_CUDA(cudaEventRecord(event, other));
    ASSERT_CUDA(cudaStreamWaitEvent(own.stream, event, 0));
    ASSERT_CUDA(cudaStreamEndCapture(own.stream, &graph));
    ASSERT_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    ASSERT_CUDA(cudaGraphLaunch(exec, own.stream));
    own.synchronize();
    EXPECT_EQ(value.values()[0], 64);
    ASSERT_CUDA(cudaGraphExecDestroy(exec));
    ASSERT_CUDA(cudaGraphDestroy(graph));
    ASSERT_CUDA(cudaEventDestroy(event));
  });
}

// Memory that has no IPC handle goes through memory that has one.
TEST(Memory, NeedNotComeFromCudaMalloc) {
  run({1, 1, 1}, [](Rank& own) {
    constexpr std::size_t kCount = 30'000;
    int* pinned = nullptr;
    ASSERT_CUDA(cudaMallocHost(&pinned, kCount * sizeof(int)));
    int* pooled = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&pooled, kCount * sizeof(int), own.stream));
    own.synchronize();
    std::fill_n(pinned, kCount, own.rank + 1);
    ASSERT_NCCL(ncclAllReduce(
        pinned, pooled, kCount, ncclInt32, ncclSum, own.comm, own.stream));
    ASSERT_NCCL(ncclAllReduce(
        pooled, pinned, kCount, ncclInt32, ncclMax, own.comm, own.stream));
    const int next = (own.rank + 1) % own.ranks;
    const int before = (own.rank + 2) % own.ranks;
    const Array<int> received(kCount);
    ASSERT_NCCL(ncclGroupStart());
    ASSERT_NCCL(
        ncclSend(pinned, kCount, ncclInt32, next, own.comm, own.stream));
    ASSERT_NCCL(ncclRecv(
        received.data(), kCount, ncclInt32, before, own.comm, own.stream));
    ASSERT_NCCL(ncclGroupEnd());
    own.synchronize();
    EXPECT_EQ(
        std::vector<int>(pinned, pinned + kCount), std::vector<int>(kCount, 6));
    EXPECT_EQ(received.values(), std::vector<int>(kCount, 6));
    EXPECT_CUDA(cudaFreeHost(pinned));
    EXPECT_CUDA(cudaFreeAsync(pooled, own.stream));
  });
}

TEST(Memory, MayBeFreedAndAllocatedAgain) {
  run({1, 1}, [](Rank& own) {
    for (int i = 0; i < 100; ++i) {
      const std::size_t count = 1000 + 317 * static_cast<std::size_t>(i);
      const Array<int> value(count, i);
      ASSERT_NCCL(ncclAllReduce(
          value.data(),
          value.data(),
          count,
          ncclInt32,
          ncclSum,
          own.comm,
          own.stream));
      own.synchronize();
      ASSERT_EQ(value.values(), std::vector<int>(count, 2 * i));
    }
  });
}

TEST(Memory, ThatIsNotThereIsTheDevicesFault) {
  run({1, 1}, [](Rank& own) {
    const Array<int> value(10, 1);
    const bool wrong = own.rank == 0;
    ASSERT_NCCL(ncclAllReduce(
        value.data(),
        value.data(),
        wrong ? 1'000'000'000 : 10,
        ncclInt32,
        ncclSum,
        own.comm,
        own.stream));
    if (wrong) {
      EXPECT_EQ(cudaStreamSynchronize(own.stream), cudaErrorIllegalAddress);
    }
    // The other one waits for it in vain.
    EXPECT_NCCL(ncclCommAbort(own.comm));
    own.comm = nullptr;
    if (wrong) {
      ASSERT_CUDA(cudaDeviceReset());
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    own.synchronize();
    EXPECT_EQ(value.values()[0], 1);
  });
}

TEST(Memory, ThatNoMachineHasIsNotThere) {
  run({1}, [](Rank& own) {
    // Not freed: the device is at fault.
    double* value = nullptr;
    ASSERT_CUDA(cudaMalloc(&value, 10 * sizeof(double)));
    // As many bytes as no number has; cut off, they would be few.
    const std::size_t count = (~std::size_t{0} >> 3) + 2;
    ASSERT_NCCL(ncclAllReduce(
        value, value, count, ncclFloat64, ncclSum, own.comm, own.stream));
    EXPECT_EQ(cudaStreamSynchronize(own.stream), cudaErrorIllegalAddress);
    EXPECT_NCCL(ncclCommAbort(own.comm));
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  });
}

TEST(Counts, OfZeroDoNothing) {
  run({1, 1}, [](Rank& own) {
    ASSERT_NCCL(ncclAllReduce(
        nullptr, nullptr, 0, ncclInt32, ncclSum, own.comm, own.stream));
    ASSERT_NCCL(
        ncclAllGather(nullptr, nullptr, 0, ncclInt8, own.comm, own.stream));
    own.synchronize();
  });
}

} // namespace
} // namespace accelerator::nccl::testing
