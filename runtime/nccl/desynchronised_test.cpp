// Ranks that are not at the same operation: they wait, and say once where they
// are.
#include <chrono>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kDeadline = std::chrono::seconds(20);

/// What the process and its children write to stderr goes to a file.
class Stderr {
 public:
  Stderr() : file_(memfd_create("stderr", 0)), before_(dup(2)) {
    dup2(file_, 2);
  }
  ~Stderr() {
    dup2(before_, 2);
    close(before_);
    close(file_);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  std::string text() const {
    std::string text(100'000, '\0');
    const ssize_t size = pread(file_, text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

 private:
  int file_;
  int before_;
};

/// All ranks wait, one of them says why.
void expect_report(Rank& own, const Stderr& messages, const char* words) {
  const auto end = Clock::now() + kDeadline;
  while (messages.text().find(words) == std::string::npos) {
    ASSERT_LT(Clock::now(), end) << messages.text();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(cudaStreamQuery(own.stream), cudaErrorNotReady);
  ncclResult_t state = ncclInternalError;
  EXPECT_NCCL(ncclCommGetAsyncError(own.comm, &state));
  EXPECT_EQ(state, ncclSuccess); // as NCCL, which knows nothing
  EXPECT_NCCL(ncclCommAbort(own.comm));
  own.comm = nullptr;
  own.synchronize();
}

TEST(Desynchronised, CollectivesAreReported) {
  const Stderr messages;
  run({1, 1}, [&](Rank& own) {
    const Array<float> value(64, 1);
    if (own.rank == 0) {
      ASSERT_NCCL(ncclAllReduce(
          value.data(),
          value.data(),
          64,
          ncclFloat32,
          ncclSum,
          own.comm,
          own.stream));
    } else {
      ASSERT_NCCL(ncclBroadcast(
          value.data(), value.data(), 32, ncclInt8, 1, own.comm, own.stream));
    }
    expect_report(
        own,
        messages,
        "torch_cuda:     rank 0 is at ncclAllReduce of 64 float32 (sum)\n"
        "torch_cuda:     rank 1 is at ncclBroadcast of 32 int8 (from rank 1)\n");
  });
  // Once, not once for each rank.
  const std::string text = messages.text();
  EXPECT_EQ(text.find("rank 0 is at"), text.rfind("rank 0 is at"));
}

// As PyTorch 2.9 does between the stages of a pipeline.
TEST(Desynchronised, TheFirstBytesOfASmallMessageAreTaken) {
  const Stderr messages;
  run({1, 1}, [&](Rank& own) {
    if (own.rank == 0) {
      const Array<int> two(std::vector<int>{7, 8});
      ASSERT_NCCL(ncclSend(two.data(), 2, ncclInt32, 1, own.comm, own.stream));
      ASSERT_NCCL(ncclSend(two.data(), 2, ncclInt32, 1, own.comm, own.stream));
      own.synchronize();
    } else {
      const Array<int> value(std::vector<int>{1, 2, 3});
      ASSERT_NCCL(
          ncclRecv(value.data(), 1, ncclInt32, 0, own.comm, own.stream));
      // The next message begins at its own first byte.
      ASSERT_NCCL(
          ncclRecv(value.data() + 1, 1, ncclInt32, 0, own.comm, own.stream));
      own.synchronize();
      EXPECT_EQ(value.values(), (std::vector<int>{7, 7, 3}));
    }
  });
  const std::string text = messages.text();
  const std::string said =
      "torch_cuda: NCCL: rank 1 receives 4 of the 8 bytes that rank 0 sends; "
      "the others are dropped\n";
  EXPECT_NE(text.find(said), std::string::npos) << text;
  EXPECT_EQ(text.find(said), text.rfind(said));
}

TEST(Desynchronised, LessThanIsReceivedIsReported) {
  const Stderr messages;
  run({1, 1}, [&](Rank& own) {
    const Array<int> value(4);
    if (own.rank == 0) {
      ASSERT_NCCL(
          ncclSend(value.data(), 3, ncclInt32, 1, own.comm, own.stream));
      own.synchronize();
    } else {
      ASSERT_NCCL(
          ncclRecv(value.data(), 4, ncclInt32, 0, own.comm, own.stream));
      expect_report(own, messages, "do not fit together");
    }
  });
}

TEST(Desynchronised, MessagesAreReported) {
  const Stderr messages;
  run({1, 1}, [&](Rank& own) {
    const Array<float> value(64, 1);
    if (own.rank == 0) {
      // One that has to wait for its receiver.
      const Array<char> large(100'000);
      ASSERT_NCCL(
          ncclSend(large.data(), 100'000, ncclInt8, 1, own.comm, own.stream));
      expect_report(own, messages, "do not fit together");
    } else {
      ASSERT_NCCL(
          ncclRecv(value.data(), 63, ncclFloat32, 0, own.comm, own.stream));
      expect_report(own, messages, "do not fit together");
    }
  });
}

TEST(Desynchronised, RanksThatWaitForEachOtherAreReported) {
  const Stderr messages;
  run({1, 1}, [&](Rank& own) {
    const Array<int> value(10, 1);
    if (own.rank == 0) {
      ASSERT_NCCL(ncclAllReduce(
          value.data(),
          value.data(),
          10,
          ncclInt32,
          ncclSum,
          own.comm,
          own.stream));
    } else {
      ASSERT_NCCL(
          ncclRecv(value.data(), 10, ncclInt32, 0, own.comm, own.stream));
    }
    expect_report(
        own,
        messages,
        "torch_cuda:     rank 0 is at ncclAllReduce of 10 int32 (sum)\n"
        "torch_cuda:     rank 1 is at ncclRecv of 10 int32 (from rank 0)\n");
  });
}

} // namespace
} // namespace accelerator::nccl::testing
