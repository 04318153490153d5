// Every collective with every type and reduction, between threads and between
// processes, against a plain reference.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

// Not a multiple of anything that the loops could like.
constexpr std::size_t kCount = 1237;

template <ncclDataType_t kTypeCode, typename Element>
struct Type {
  using T = Element;
  static constexpr ncclDataType_t kCode = kTypeCode;
};

using Types = ::testing::Types<
    Type<ncclInt8, std::int8_t>,
    Type<ncclUint8, std::uint8_t>,
    Type<ncclInt32, std::int32_t>,
    Type<ncclUint32, std::uint32_t>,
    Type<ncclInt64, std::int64_t>,
    Type<ncclUint64, std::uint64_t>,
    Type<ncclFloat16, __half>,
    Type<ncclFloat32, float>,
    Type<ncclFloat64, double>,
    Type<ncclBfloat16, __nv_bfloat16>>;

template <typename T>
T make(double value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __double2half(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __double2bfloat16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
double read(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else {
    return static_cast<double>(value);
  }
}

/// Units in the last place of results of a few units.
template <typename T>
constexpr double kTolerance = std::is_integral_v<T> ? 0
    : std::is_same_v<T, double>                     ? 1e-14
    : std::is_same_v<T, float>                      ? 1e-6
    : std::is_same_v<T, __half>                     ? 1e-3
                                                    : 1e-2;

/// What a rank has at a place: small whole numbers, so that sums and products
/// of four fit into every type.
template <typename T>
double value_at(int rank, std::size_t i) {
  const double sign =
      std::is_signed_v<T> || !std::is_integral_v<T> ? (i % 3 == 0 ? -1 : 1) : 1;
  return sign *
      static_cast<double>((i + 2 * static_cast<std::size_t>(rank)) % 4);
}

template <typename T>
std::vector<T> values_of(int rank, std::size_t count, std::size_t first = 0) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(make<T>(value_at<T>(rank, first + i)));
  }
  return values;
}

constexpr double kFactor = 3;
constexpr int kScaledSum = -1; // stands for operators that the test makes

/// The reduction of all ranks' elements at a place.
template <typename T>
double expected(int op, int ranks, std::size_t i) {
  double result = value_at<T>(0, i);
  double factors = kFactor * result;
  for (int rank = 1; rank < ranks; ++rank) {
    const double other = value_at<T>(rank, i);
    factors += (rank + kFactor) * other;
    switch (op) {
      case ncclProd:
        result *= other;
        break;
      case ncclMax:
        result = std::max(result, other);
        break;
      case ncclMin:
        result = std::min(result, other);
        break;
      default:
        result += other;
        break;
    }
  }
  if (op == kScaledSum) {
    return factors;
  }
  if (op == ncclAvg) {
    return std::is_integral_v<T> ? std::trunc(result / ranks) : result / ranks;
  }
  return result;
}

template <typename T>
void expect_reduced(
    const std::vector<T>& results,
    int op,
    int ranks,
    std::size_t first = 0) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double wanted = expected<T>(op, ranks, first + i);
    ASSERT_NEAR(
        read(results[i]),
        wanted,
        kTolerance<T> * std::max(1.0, std::abs(wanted)))
        << "element " << first + i << " of operation " << op;
  }
}

/// An operator for each rank, and its end.
class Operator {
 public:
  Operator(int op, const Rank& rank, ncclDataType_t type, bool on_device)
      : rank_(rank) {
    if (op != kScaledSum) {
      op_ = static_cast<ncclRedOp_t>(op);
      return;
    }
    made_ = true;
    const auto residence =
        on_device ? ncclScalarDevice : ncclScalarHostImmediate;
    switch (type) {
      case ncclFloat16:
        create<__half>(type, residence);
        break;
      case ncclBfloat16:
        create<__nv_bfloat16>(type, residence);
        break;
      case ncclFloat32:
        create<float>(type, residence);
        break;
      case ncclFloat64:
        create<double>(type, residence);
        break;
      default:
        create<std::int64_t>(type, residence); // its first bytes come first
        break;
    }
  }
  ~Operator() {
    if (made_) {
      EXPECT_NCCL(ncclRedOpDestroy(op_, rank_.comm));
      rank_.synchronize();
      EXPECT_CUDA(cudaFree(scalar_));
    }
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  operator ncclRedOp_t() const {
    return op_;
  }

 private:
  template <typename T>
  void create(ncclDataType_t type, ncclScalarResidence_t residence) {
    T factor = make<T>(rank_.rank + kFactor);
    void* scalar = &factor;
    if (residence == ncclScalarDevice) {
      ASSERT_CUDA(cudaMalloc(&scalar_, sizeof(T)));
      ASSERT_CUDA(
          cudaMemcpy(scalar_, &factor, sizeof(T), cudaMemcpyHostToDevice));
      scalar = scalar_;
    }
    ASSERT_NCCL(
        ncclRedOpCreatePreMulSum(&op_, scalar, type, residence, rank_.comm));
  }

  const Rank& rank_;
  ncclRedOp_t op_ = ncclSum;
  bool made_ = false;
  void* scalar_ = nullptr;
};

constexpr int kOps[] =
    {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg, kScaledSum};

const Layout kLayouts[] = {{1}, {2}, {1, 1}, {1, 1, 1}, {2, 2}};

template <typename TypeCode>
class Collective : public ::testing::Test {};
TYPED_TEST_SUITE(Collective, Types);

TYPED_TEST(Collective, AllReduce) {
  using T = typename TypeParam::T;
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    run(layout, [](Rank& own) {
      for (const int op : kOps) {
        const Array<T> send(values_of<T>(own.rank, kCount));
        const Array<T> receive(kCount);
        const Operator reduction(op, own, TypeParam::kCode, own.rank % 2 == 0);
        ASSERT_NCCL(ncclAllReduce(
            send.data(),
            receive.data(),
            kCount,
            TypeParam::kCode,
            reduction,
            own.comm,
            own.stream));
        own.synchronize();
        expect_reduced(receive.values(), op, own.ranks);
        // In place.
        ASSERT_NCCL(ncclAllReduce(
            send.data(),
            send.data(),
            kCount,
            TypeParam::kCode,
            reduction,
            own.comm,
            own.stream));
        own.synchronize();
        expect_reduced(send.values(), op, own.ranks);
      }
    });
  }
}

TYPED_TEST(Collective, Reduce) {
  using T = typename TypeParam::T;
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    run(layout, [](Rank& own) {
      for (const int op : kOps) {
        const int root = op % own.ranks < 0 ? 0 : op % own.ranks;
        const Array<T> send(values_of<T>(own.rank, kCount));
        const Array<T> receive(kCount);
        const Operator reduction(op, own, TypeParam::kCode, own.rank % 2 == 1);
        ASSERT_NCCL(ncclReduce(
            send.data(),
            own.rank == root ? receive.data() : nullptr,
            kCount,
            TypeParam::kCode,
            reduction,
            root,
            own.comm,
            own.stream));
        own.synchronize();
        if (own.rank == root) {
          expect_reduced(receive.values(), op, own.ranks);
        }
        EXPECT_EQ(read(send.values()[5]), value_at<T>(own.rank, 5));
      }
    });
  }
}

TYPED_TEST(Collective, ReduceScatter) {
  using T = typename TypeParam::T;
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    run(layout, [](Rank& own) {
      const auto ranks = static_cast<std::size_t>(own.ranks);
      const std::size_t first = static_cast<std::size_t>(own.rank) * kCount;
      for (const int op : kOps) {
        const Array<T> send(values_of<T>(own.rank, ranks * kCount));
        const Array<T> receive(kCount);
        const Operator reduction(op, own, TypeParam::kCode, true);
        ASSERT_NCCL(ncclReduceScatter(
            send.data(),
            receive.data(),
            kCount,
            TypeParam::kCode,
            reduction,
            own.comm,
            own.stream));
        own.synchronize();
        expect_reduced(receive.values(), op, own.ranks, first);
        ASSERT_NCCL(ncclReduceScatter(
            send.data(),
            send.data() + first,
            kCount,
            TypeParam::kCode,
            reduction,
            own.comm,
            own.stream));
        own.synchronize();
        auto all = send.values();
        all.erase(all.begin(), all.begin() + static_cast<long>(first));
        all.resize(kCount);
        expect_reduced(all, op, own.ranks, first);
      }
    });
  }
}

TYPED_TEST(Collective, AllGather) {
  using T = typename TypeParam::T;
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    run(layout, [](Rank& own) {
      const auto ranks = static_cast<std::size_t>(own.ranks);
      for (const bool in_place : {false, true}) {
        const Array<T> send(values_of<T>(own.rank, kCount));
        const Array<T> receive(ranks * kCount);
        T* own_part =
            receive.data() + static_cast<std::size_t>(own.rank) * kCount;
        if (in_place) {
          ASSERT_CUDA(cudaMemcpy(
              own_part,
              send.data(),
              kCount * sizeof(T),
              cudaMemcpyDeviceToDevice));
        }
        ASSERT_NCCL(ncclAllGather(
            in_place ? own_part : send.data(),
            receive.data(),
            kCount,
            TypeParam::kCode,
            own.comm,
            own.stream));
        own.synchronize();
        const auto results = receive.values();
        for (std::size_t i = 0; i < results.size(); ++i) {
          const int from = static_cast<int>(i / kCount);
          ASSERT_EQ(read(results[i]), value_at<T>(from, i % kCount)) << i;
        }
      }
    });
  }
}

TYPED_TEST(Collective, Broadcast) {
  using T = typename TypeParam::T;
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    run(layout, [](Rank& own) {
      for (int root = 0; root < own.ranks; ++root) {
        const Array<T> send(values_of<T>(own.rank, kCount));
        const Array<T> receive(kCount);
        ASSERT_NCCL(ncclBroadcast(
            own.rank == root ? send.data() : nullptr,
            receive.data(),
            kCount,
            TypeParam::kCode,
            root,
            own.comm,
            own.stream));
        ASSERT_NCCL(ncclBcast(
            send.data(), kCount, TypeParam::kCode, root, own.comm, own.stream));
        own.synchronize();
        for (const Array<T>* array : {&send, &receive}) {
          const auto results = array->values();
          for (std::size_t i = 0; i < kCount; ++i) {
            ASSERT_EQ(read(results[i]), value_at<T>(root, i)) << i;
          }
        }
      }
    });
  }
}

// So many that all ranks reduce some, in one order or the other.
TEST(LargeCollective, IsTheWorkOfAllRanks) {
  constexpr std::size_t kMany = 1'000'003;
  for (const Layout& layout : {Layout{1, 1}, Layout{2, 2}}) {
    SCOPED_TRACE(name_of(layout));
    run(layout, [](Rank& own) {
      const Array<float> values(values_of<float>(own.rank, kMany));
      const Array<float> sums(kMany);
      for (int i = 0; i < 3; ++i) {
        ASSERT_NCCL(ncclReduce(
            values.data(),
            sums.data(),
            kMany,
            ncclFloat32,
            ncclSum,
            1,
            own.comm,
            own.stream));
      }
      ASSERT_NCCL(ncclAllReduce(
          values.data(),
          values.data(),
          kMany,
          ncclFloat32,
          ncclAvg,
          own.comm,
          own.stream));
      own.synchronize();
      if (own.rank == 1) {
        expect_reduced(sums.values(), ncclSum, own.ranks);
      }
      expect_reduced(values.values(), ncclAvg, own.ranks);
    });
  }
}

} // namespace
} // namespace accelerator::nccl::testing
