// Sends and receives: in groups, in numbers, to oneself, small and large.
#include <numeric>
#include <string>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

// One that a message carries, one that the receiver fetches.
constexpr std::size_t kSizes[] = {100, 100'000};

std::vector<int> numbers(std::size_t count, int first) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

const Layout kLayouts[] = {{2}, {1, 1}, {1, 1, 1}, {2, 2}};

class PointToPoint : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(
    Layouts,
    PointToPoint,
    ::testing::ValuesIn(kLayouts),
    [](const auto& test) { return name_of(test.param); });

TEST_P(PointToPoint, AllToAll) {
  run(GetParam(), [](Rank& own) {
    const auto ranks = static_cast<std::size_t>(own.ranks);
    for (const std::size_t count : kSizes) {
      const Array<int> send(numbers(ranks * count, own.rank * 1'000'000));
      const Array<int> receive(ranks * count);
      ASSERT_NCCL(ncclGroupStart());
      for (int peer = 0; peer < own.ranks; ++peer) {
        const std::size_t place = static_cast<std::size_t>(peer) * count;
        EXPECT_NCCL(ncclSend(
            send.data() + place, count, ncclInt32, peer, own.comm, own.stream));
        EXPECT_NCCL(ncclRecv(
            receive.data() + place,
            count,
            ncclInt32,
            peer,
            own.comm,
            own.stream));
      }
      ASSERT_NCCL(ncclGroupEnd());
      own.synchronize();
      const auto results = receive.values();
      for (std::size_t i = 0; i < results.size(); ++i) {
        const int from = static_cast<int>(i / count);
        const int place =
            own.rank * static_cast<int>(count) + static_cast<int>(i % count);
        ASSERT_EQ(results[i], from * 1'000'000 + place) << i;
      }
    }
  });
}

// More than fit between two ranks at a time, both ways at once.
TEST_P(PointToPoint, ManyBetweenTheSameTwoStayInOrder) {
  run(GetParam(), [](Rank& own) {
    constexpr int kMany = 50;
    if (own.rank > 1) {
      return;
    }
    const int peer = 1 - own.rank;
    for (const std::size_t count : kSizes) {
      const Array<int> send(numbers(kMany * count, own.rank));
      const Array<int> receive(kMany * count);
      ASSERT_NCCL(ncclGroupStart());
      for (std::size_t i = 0; i < kMany; ++i) {
        EXPECT_NCCL(ncclSend(
            send.data() + i * count,
            count,
            ncclInt32,
            peer,
            own.comm,
            own.stream));
      }
      for (std::size_t i = 0; i < kMany; ++i) {
        EXPECT_NCCL(ncclRecv(
            receive.data() + i * count,
            count,
            ncclInt32,
            peer,
            own.comm,
            own.stream));
      }
      ASSERT_NCCL(ncclGroupEnd());
      own.synchronize();
      EXPECT_EQ(receive.values(), numbers(kMany * count, peer));
    }
  });
}

TEST_P(PointToPoint, AlongARow) {
  run(GetParam(), [](Rank& own) {
    for (const std::size_t count : kSizes) {
      const Array<int> values(numbers(count, own.rank));
      if (own.rank > 0) {
        ASSERT_NCCL(ncclRecv(
            values.data(),
            count,
            ncclInt32,
            own.rank - 1,
            own.comm,
            own.stream));
      }
      if (own.rank + 1 < own.ranks) {
        ASSERT_NCCL(ncclSend(
            values.data(),
            count,
            ncclInt32,
            own.rank + 1,
            own.comm,
            own.stream));
      }
      own.synchronize();
      EXPECT_EQ(values.values(), numbers(count, 0));
    }
  });
}

// A small send does not wait for its receiver.
TEST_P(PointToPoint, SmallOnesMayCrossWithoutAGroup) {
  run(GetParam(), [](Rank& own) {
    const int next = (own.rank + 1) % own.ranks;
    const int before = (own.rank + own.ranks - 1) % own.ranks;
    const Array<int> send(numbers(10, own.rank));
    const Array<int> receive(10);
    ASSERT_NCCL(
        ncclSend(send.data(), 10, ncclInt32, next, own.comm, own.stream));
    ASSERT_NCCL(
        ncclRecv(receive.data(), 10, ncclInt32, before, own.comm, own.stream));
    own.synchronize();
    EXPECT_EQ(receive.values(), numbers(10, before));
  });
}

// The order of collectives and messages within a group need not be the same.
TEST_P(PointToPoint, GoTogetherWithCollectives) {
  run(GetParam(), [](Rank& own) {
    const int peer = own.ranks - 1 - own.rank;
    const Array<int> send(numbers(kSizes[1], own.rank));
    const Array<int> receive(kSizes[1]);
    const Array<int> sum(numbers(1, 1));
    const auto reduce = [&] {
      EXPECT_NCCL(ncclAllReduce(
          sum.data(), sum.data(), 1, ncclInt32, ncclSum, own.comm, own.stream));
    };
    ASSERT_NCCL(ncclGroupStart());
    if (own.rank == 0) {
      reduce();
    }
    EXPECT_NCCL(ncclSend(
        send.data(), kSizes[1], ncclInt32, peer, own.comm, own.stream));
    EXPECT_NCCL(ncclRecv(
        receive.data(), kSizes[1], ncclInt32, peer, own.comm, own.stream));
    if (own.rank != 0) {
      reduce();
    }
    ASSERT_NCCL(ncclGroupEnd());
    own.synchronize();
    EXPECT_EQ(receive.values(), numbers(kSizes[1], peer));
    EXPECT_EQ(sum.values()[0], own.ranks);
  });
}

TEST_P(PointToPoint, NothingIsSentToo) {
  run(GetParam(), [](Rank& own) {
    const int peer = own.ranks - 1 - own.rank;
    ASSERT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclSend(nullptr, 0, ncclInt8, peer, own.comm, own.stream));
    EXPECT_NCCL(ncclRecv(nullptr, 0, ncclInt8, peer, own.comm, own.stream));
    ASSERT_NCCL(ncclGroupEnd());
    own.synchronize();
  });
}

TEST_P(PointToPoint, ASendToOneselfNeedsAReceive) {
  run(GetParam(), [](Rank& own) {
    const Array<int> value(1);
    EXPECT_EQ(
        ncclSend(value.data(), 1, ncclInt32, own.rank, own.comm, own.stream),
        ncclInvalidUsage);
    // The last error is that of all threads, so it may be the other call's.
    const std::string message = ncclGetLastError(nullptr);
    EXPECT_TRUE(
        message == "Trying to send to self without a matching recv" ||
        message == "Trying to recv from self without a matching send")
        << message;
    EXPECT_EQ(
        ncclRecv(value.data(), 1, ncclInt32, own.rank, own.comm, own.stream),
        ncclInvalidUsage);
  });
}

} // namespace
} // namespace accelerator::nccl::testing
