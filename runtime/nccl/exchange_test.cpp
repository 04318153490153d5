// All-to-all, gather and scatter: NCCL 2.28's functions, between threads and
// between processes, element by element.
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/nccl/testing/ranks.h"

// The headers are those of an earlier version.
extern "C" {
ncclResult_t ncclAlltoAll(
    const void*,
    void*,
    size_t,
    ncclDataType_t,
    ncclComm_t,
    cudaStream_t);
ncclResult_t ncclGather(
    const void*,
    void*,
    size_t,
    ncclDataType_t,
    int,
    ncclComm_t,
    cudaStream_t);
ncclResult_t ncclScatter(
    const void*,
    void*,
    size_t,
    ncclDataType_t,
    int,
    ncclComm_t,
    cudaStream_t);
}

namespace accelerator::nccl::testing {
namespace {

// A few elements, and more than a piece of memory that is passed at once.
constexpr std::size_t kCounts[] = {1, 1237, 100003};
constexpr std::int64_t kUntouched = -1;

/// The element that a rank has for another one; no two are the same.
std::int64_t element(int from, int to, std::size_t i) {
  return ((from * 10 + to) * std::int64_t{1000000}) +
      static_cast<std::int64_t>(i);
}

/// What a rank has for each of so many ranks, one behind the other.
std::vector<std::int64_t> blocks(int from, int ranks, std::size_t count) {
  std::vector<std::int64_t> values;
  for (int to = 0; to < ranks; ++to) {
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(element(from, to, i));
    }
  }
  return values;
}

std::vector<std::int64_t> block(int from, int to, std::size_t count) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(element(from, to, i));
  }
  return values;
}

class Exchanges : public ::testing::TestWithParam<Layout> {};

TEST_P(Exchanges, AllToAllTransposes) {
  run(GetParam(), [](Rank& own) {
    const auto ranks = static_cast<std::size_t>(own.ranks);
    for (const std::size_t count : kCounts) {
      const Array send(blocks(own.rank, own.ranks, count));
      const Array receive(ranks * count, kUntouched);
      ASSERT_NCCL(ncclAlltoAll(
          send.data(), receive.data(), count, ncclInt64, own.comm, own.stream));
      own.synchronize();
      std::vector<std::int64_t> wanted;
      for (int from = 0; from < own.ranks; ++from) {
        const auto part = block(from, own.rank, count);
        wanted.insert(wanted.end(), part.begin(), part.end());
      }
      EXPECT_EQ(receive.values(), wanted);
      EXPECT_EQ(send.values(), blocks(own.rank, own.ranks, count));
    }
  });
}

TEST_P(Exchanges, GatherCollectsAtTheRoot) {
  run(GetParam(), [](Rank& own) {
    const auto ranks = static_cast<std::size_t>(own.ranks);
    for (const std::size_t count : kCounts) {
      for (int root = 0; root < own.ranks; ++root) {
        const Array send(block(own.rank, root, count));
        const Array receive(ranks * count, kUntouched);
        // Others need no buffer to receive into.
        ASSERT_NCCL(ncclGather(
            send.data(),
            own.rank == root ? receive.data() : nullptr,
            count,
            ncclInt64,
            root,
            own.comm,
            own.stream));
        own.synchronize();
        std::vector<std::int64_t> wanted;
        for (int from = 0; from < own.ranks; ++from) {
          const auto part = block(from, root, count);
          wanted.insert(wanted.end(), part.begin(), part.end());
        }
        if (own.rank != root) {
          wanted.assign(ranks * count, kUntouched);
        }
        EXPECT_EQ(receive.values(), wanted);
      }
    }
  });
}

TEST_P(Exchanges, ScatterHandsOutTheRootsBlocks) {
  run(GetParam(), [](Rank& own) {
    for (const std::size_t count : kCounts) {
      for (int root = 0; root < own.ranks; ++root) {
        const Array send(blocks(own.rank, own.ranks, count));
        const Array receive(count, kUntouched);
        ASSERT_NCCL(ncclScatter(
            own.rank == root ? send.data() : nullptr,
            receive.data(),
            count,
            ncclInt64,
            root,
            own.comm,
            own.stream));
        own.synchronize();
        EXPECT_EQ(receive.values(), block(root, own.rank, count));
      }
    }
  });
}

TEST_P(Exchanges, GatherAndScatterWorkInPlace) {
  run(GetParam(), [](Rank& own) {
    constexpr std::size_t kCount = 1000;
    constexpr int kRoot = 1;
    const Array all(blocks(own.rank, own.ranks, kCount));
    const Array one(block(own.rank, own.rank, kCount));
    const bool is_root = own.rank == kRoot;
    std::int64_t* const of_root = all.data() + kRoot * kCount;
    ASSERT_NCCL(ncclScatter(
        all.data(),
        is_root ? of_root : one.data(),
        kCount,
        ncclInt64,
        kRoot,
        own.comm,
        own.stream));
    own.synchronize();
    if (is_root) {
      EXPECT_EQ(all.values(), blocks(kRoot, own.ranks, kCount));
    } else {
      EXPECT_EQ(one.values(), block(kRoot, own.rank, kCount));
    }
    // Back, each block from where it came to.
    ASSERT_NCCL(ncclGather(
        is_root ? of_root : one.data(),
        all.data(),
        kCount,
        ncclInt64,
        kRoot,
        own.comm,
        own.stream));
    own.synchronize();
    EXPECT_EQ(all.values(), blocks(own.rank, own.ranks, kCount));
  });
}

TEST_P(Exchanges, AGroupOfThemIsOneAfterTheOther) {
  run(GetParam(), [](Rank& own) {
    constexpr std::size_t kCount = 33;
    const auto ranks = static_cast<std::size_t>(own.ranks);
    const Array send(blocks(own.rank, own.ranks, kCount));
    const Array middle(ranks * kCount, kUntouched);
    const Array back(ranks * kCount, kUntouched);
    ASSERT_NCCL(ncclGroupStart());
    for (const auto& [from, to] :
         {std::pair(send.data(), middle.data()),
          std::pair(middle.data(), back.data())}) {
      EXPECT_NCCL(
          ncclAlltoAll(from, to, kCount, ncclInt64, own.comm, own.stream));
    }
    ASSERT_NCCL(ncclGroupEnd());
    own.synchronize();
    EXPECT_EQ(back.values(), send.values());
  });
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    Exchanges,
    ::testing::Values(Layout{2}, Layout{1, 1}, Layout{3}, Layout{1, 2, 1}),
    [](const auto& info) { return name_of(info.param); });

TEST(ExchangesOfOne, RefuseWhatIsWrong) {
  run({1, 1}, [](Rank& own) {
    const Array values(std::size_t{8}, std::int64_t{0});
    EXPECT_EQ(
        ncclAlltoAll(
            values.data(), values.data(), 4, ncclInt64, own.comm, own.stream),
        ncclInvalidArgument);
    EXPECT_STREQ(
        ncclGetLastError(nullptr),
        "ncclAlltoAll : the buffers overlap; it does not work in place");
    EXPECT_EQ(
        ncclGather(
            values.data(),
            values.data(),
            1,
            ncclInt64,
            2,
            own.comm,
            own.stream),
        ncclInvalidArgument);
    EXPECT_EQ(
        ncclScatter(
            values.data(),
            values.data(),
            1,
            ncclInt64,
            -1,
            own.comm,
            own.stream),
        ncclInvalidArgument);
    EXPECT_NCCL(
        ncclAlltoAll(nullptr, nullptr, 0, ncclInt64, own.comm, own.stream));
  });
}

} // namespace
} // namespace accelerator::nccl::testing
