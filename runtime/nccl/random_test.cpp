// Random operations in a random order, sizes and groups, on all ranks the same,
// against a plain reference. NCCL_TEST_OPERATIONS says how many, and
// NCCL_TEST_SEED which.
#include <algorithm>
#include <cstdint>
#include <random>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

constexpr std::size_t kMost = 70'000; // elements of a buffer
constexpr int kStreams = 2;

/// The buffers of all ranks as they have to be; integers, so that nothing is
/// rounded.
class Model {
 public:
  explicit Model(int ranks) : buffers_(static_cast<std::size_t>(ranks)) {
    for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
      buffers_[rank].resize(kMost);
      for (std::size_t i = 0; i < kMost; ++i) {
        buffers_[rank][i] = static_cast<std::uint32_t>(i * (rank + 3));
      }
    }
  }
  std::vector<std::uint32_t>& operator[](int rank) {
    return buffers_[static_cast<std::size_t>(rank)];
  }
  std::size_t ranks() const {
    return buffers_.size();
  }
  std::uint32_t reduced(ncclRedOp_t op, std::size_t i) const {
    std::uint32_t result = buffers_[0][i];
    for (std::size_t rank = 1; rank < ranks(); ++rank) {
      const std::uint32_t other = buffers_[rank][i];
      result = op == ncclSum ? result + other
          : op == ncclProd   ? result * other
          : op == ncclMax    ? std::max(result, other)
          : op == ncclMin    ? std::min(result, other)
                             : result + other;
    }
    return op == ncclAvg ? result / static_cast<std::uint32_t>(ranks())
                         : result;
  }

 private:
  std::vector<std::vector<std::uint32_t>> buffers_;
};

class Script {
 public:
  Script(Rank& own, unsigned seed)
      : own_(own),
        ranks_(static_cast<std::size_t>(own.ranks)),
        random_(seed),
        model_(own.ranks),
        data_(model_[own.rank]) {
    for (cudaStream_t& stream : streams_) {
      EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
  }
  ~Script() {
    for (const cudaStream_t stream : streams_) {
      EXPECT_CUDA(cudaStreamDestroy(stream));
    }
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      if (pick(6) == 0) {
        exchange();
        continue;
      }
      const int in_group = pick(4) == 0 ? 1 + pick(4) : 0;
      if (in_group > 0) {
        ASSERT_NCCL(ncclGroupStart());
      }
      for (int k = 0; k < std::max(1, in_group); ++k) {
        one();
      }
      if (in_group > 0) {
        ASSERT_NCCL(ncclGroupEnd());
      }
      if (pick(8) == 0) {
        check();
      }
      if (::testing::Test::HasFailure()) {
        FAIL() << "rank " << own_.rank << " at operation " << i;
      }
    }
    check();
  }

 private:
  int pick(int below) {
    return static_cast<int>(random_() % static_cast<unsigned>(below));
  }

  void check() {
    for (const cudaStream_t stream : streams_) {
      ASSERT_CUDA(cudaStreamSynchronize(stream));
    }
    ASSERT_EQ(data_.values(), model_[own_.rank]) << "rank " << own_.rank;
  }

  // One that all ranks take part in. Those of a group may touch the same
  // memory, as they run in the order of the calls.
  void one() {
    const auto op = static_cast<ncclRedOp_t>(pick(5));
    const int root = pick(own_.ranks);
    const std::size_t most = pick(2) == 0 ? 50 : kMost / (2 * ranks_);
    const std::size_t count = 1 + random_() % most;
    const std::size_t from = random_() % (kMost / 2 - ranks_ * count + 1);
    const std::size_t to =
        kMost / 2 + random_() % (kMost / 2 - ranks_ * count + 1);
    const bool in_place = pick(2) == 0;
    const cudaStream_t stream = streams_[pick(kStreams)];
    const auto rank = static_cast<std::size_t>(own_.rank);
    std::uint32_t* const data = data_.data();
    switch (pick(5)) {
      case 0: {
        const std::size_t target = in_place ? from : to;
        EXPECT_NCCL(ncclAllReduce(
            data + from,
            data + target,
            count,
            ncclUint32,
            op,
            own_.comm,
            stream));
        const auto results = reduced(op, from, count);
        for (std::size_t each = 0; each < ranks_; ++each) {
          put(each, target, results);
        }
        break;
      }
      case 1: {
        const std::size_t target = in_place ? from : to;
        EXPECT_NCCL(ncclReduce(
            data + from,
            data + target,
            count,
            ncclUint32,
            op,
            root,
            own_.comm,
            stream));
        put(static_cast<std::size_t>(root), target, reduced(op, from, count));
        break;
      }
      case 2: {
        const std::size_t target = in_place ? from : to;
        EXPECT_NCCL(ncclBroadcast(
            data + from,
            data + target,
            count,
            ncclUint32,
            root,
            own_.comm,
            stream));
        const auto values = get(static_cast<std::size_t>(root), from, count);
        for (std::size_t each = 0; each < ranks_; ++each) {
          put(each, target, values);
        }
        break;
      }
      case 3: {
        // In place, each rank gives the part that it keeps.
        EXPECT_NCCL(ncclAllGather(
            in_place ? data + to + rank * count : data + from,
            data + to,
            count,
            ncclUint32,
            own_.comm,
            stream));
        std::vector<std::uint32_t> all;
        for (std::size_t each = 0; each < ranks_; ++each) {
          const auto part =
              get(each, in_place ? to + each * count : from, count);
          all.insert(all.end(), part.begin(), part.end());
        }
        for (std::size_t each = 0; each < ranks_; ++each) {
          put(each, to, all);
        }
        break;
      }
      default: {
        EXPECT_NCCL(ncclReduceScatter(
            data + from,
            in_place ? data + from + rank * count : data + to,
            count,
            ncclUint32,
            op,
            own_.comm,
            stream));
        const auto all = reduced(op, from, ranks_ * count);
        for (std::size_t each = 0; each < ranks_; ++each) {
          const auto first = all.begin() + static_cast<long>(each * count);
          put(each,
              in_place ? from + each * count : to,
              {first, first + static_cast<long>(count)});
        }
        break;
      }
    }
  }

  // Some ranks send to others, several times and to themselves too.
  void exchange() {
    const std::size_t most = pick(2) == 0 ? 50 : 9'000;
    const cudaStream_t stream = streams_[pick(kStreams)];
    const int messages = 1 + pick(12);
    std::size_t to = kMost / 2; // each to a place of its own
    ASSERT_NCCL(ncclGroupStart());
    for (int i = 0; i < messages; ++i) {
      const std::size_t count = random_() % most;
      const std::size_t from = random_() % (kMost / 2 - most);
      const int sender = pick(own_.ranks);
      const int receiver = pick(own_.ranks);
      if (to + count > kMost) {
        continue;
      }
      std::uint32_t* const data = data_.data();
      if (own_.rank == sender) {
        EXPECT_NCCL(ncclSend(
            data + from, count, ncclUint32, receiver, own_.comm, stream));
      }
      if (own_.rank == receiver) {
        EXPECT_NCCL(
            ncclRecv(data + to, count, ncclUint32, sender, own_.comm, stream));
      }
      put(static_cast<std::size_t>(receiver),
          to,
          get(static_cast<std::size_t>(sender), from, count));
      to += count;
    }
    ASSERT_NCCL(ncclGroupEnd());
  }

  std::vector<std::uint32_t> reduced(
      ncclRedOp_t op,
      std::size_t from,
      std::size_t count) const {
    std::vector<std::uint32_t> results;
    for (std::size_t i = from; i < from + count; ++i) {
      results.push_back(model_.reduced(op, i));
    }
    return results;
  }
  std::vector<std::uint32_t> get(
      std::size_t rank,
      std::size_t from,
      std::size_t count) {
    const auto& buffer = model_[static_cast<int>(rank)];
    const auto first = buffer.begin() + static_cast<long>(from);
    return {first, first + static_cast<long>(count)};
  }
  void put(
      std::size_t rank,
      std::size_t to,
      const std::vector<std::uint32_t>& values) {
    std::copy(
        values.begin(),
        values.end(),
        model_[static_cast<int>(rank)].begin() + static_cast<long>(to));
  }

  Rank& own_;
  std::size_t ranks_;
  std::mt19937 random_;
  Model model_;
  const Array<std::uint32_t> data_;
  cudaStream_t streams_[kStreams];
};

class Random : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(
    Layouts,
    Random,
    ::testing::Values(Layout{1, 1}, Layout{3}, Layout{1, 1, 1}, Layout{2, 2}),
    [](const auto& test) { return name_of(test.param); });

TEST_P(Random, OperationsGiveWhatTheyHaveTo) {
  const unsigned seed =
      from_environment("NCCL_TEST_SEED", std::random_device{}());
  SCOPED_TRACE("NCCL_TEST_SEED=" + std::to_string(seed));
  const int operations =
      static_cast<int>(from_environment("NCCL_TEST_OPERATIONS", 100));
  run(GetParam(), [&](Rank& own) { Script(own, seed).run(operations); });
}

} // namespace
} // namespace accelerator::nccl::testing
