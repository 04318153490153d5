// Memory that is not there: what a call names fails the call; what the pointers
// of a batch name is an illegal address of the device when the work runs.
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kN = 4;
constexpr int kCount = 3;

template <typename F>
class BadMemory : public HandleTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  /// A batched function, given the device's arrays of pointers to matrices.
  using Call = std::function<cublasStatus_t(Api** first, Api** second)>;

  /// The identity and more of it behind: good for all functions.
  static std::vector<T> matrix(std::size_t elements) {
    std::vector<T> values(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      values[i] = i % (kN + 1) == 0 ? T(1) : T(0);
    }
    return values;
  }

  /// Runs it with one matrix of each side in turn, in the middle of the batch,
  /// one element too short, and nowhere at all.
  void expect_fault(const Call& call, bool uses_second) {
    const std::vector<T> whole = matrix(kN * kN);
    const std::vector<T> cut = matrix(kN * kN - 1);
    for (const int side : {0, 1}) {
      if (side == 1 && !uses_second) {
        continue;
      }
      for (const int bad : {0, 1}) {
        const Array<T> first(whole), second(whole), last(whole), shorter(cut);
        std::vector<Api*> pointers[2];
        for (auto& list : pointers) {
          list = {
              first.template get<Api>(),
              second.template get<Api>(),
              last.template get<Api>()};
        }
        {
          const Array<Api*> good(pointers[0]);
          ASSERT_EQ(call(good.get(), good.get()), CUBLAS_STATUS_SUCCESS);
          ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        }
        pointers[side][1] = bad == 0 ? shorter.template get<Api>() : nullptr;
        const Array<Api*> a(pointers[0]);
        const Array<Api*> b(pointers[1]);
        EXPECT_EQ(call(a.get(), b.get()), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress)
            << "side " << side << ", bad " << bad;
        ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
      }
    }
  }
};

TYPED_TEST_SUITE(BadMemory, AllTypes);

TYPED_TEST(BadMemory, OfABatchIsAnIllegalAddress) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const T one(1);
  const Api* alpha = this->scalar(&one);
  const auto handle = this->handle;
  int host_info = 0;
  int* info = nullptr;
  int* pivots = nullptr;
  // Anew for each call: resetting the device frees them.
  const auto with_ints = [&](const typename TestFixture::Call& call) {
    return [&, call](Api** a, Api** b) {
      const Array<int> infos(std::vector<int>(kCount, 0));
      const Array<int> rows(std::vector<int>(kCount * kN, kN));
      info = infos.get();
      pivots = rows.get();
      const auto status = call(a, b);
      cudaDeviceSynchronize();
      return status;
    };
  };
  this->expect_fault(
      [&](Api** a, Api** b) {
        return F::gemm_batched(
            handle,
            CUBLAS_OP_N,
            CUBLAS_OP_N,
            kN,
            kN,
            kN,
            alpha,
            a,
            kN,
            b,
            kN,
            alpha,
            b,
            kN,
            kCount);
      },
      true);
  this->expect_fault(
      [&](Api** a, Api** b) {
        return F::trsm_batched(
            handle,
            CUBLAS_SIDE_LEFT,
            CUBLAS_FILL_MODE_LOWER,
            CUBLAS_OP_N,
            CUBLAS_DIAG_UNIT,
            kN,
            kN,
            alpha,
            a,
            kN,
            b,
            kN,
            kCount);
      },
      true);
  this->expect_fault(
      with_ints([&](Api** a, Api**) {
        return F::getrf(handle, kN, a, kN, pivots, info, kCount);
      }),
      false);
  this->expect_fault(
      with_ints([&](Api** a, Api**) {
        return F::getrf(handle, kN, a, kN, nullptr, info, kCount);
      }),
      false);
  for (const bool pivoting : {true, false}) {
    this->expect_fault(
        with_ints([&](Api** a, Api** b) {
          return F::getrs(
              handle,
              CUBLAS_OP_N,
              kN,
              kN,
              a,
              kN,
              pivoting ? pivots : nullptr,
              b,
              kN,
              &host_info,
              kCount);
        }),
        true);
    this->expect_fault(
        with_ints([&](Api** a, Api** b) {
          return F::getri(
              handle,
              kN,
              a,
              kN,
              pivoting ? pivots : nullptr,
              b,
              kN,
              info,
              kCount);
        }),
        true);
  }
  this->expect_fault(
      [&](Api** a, Api** b) {
        // 15 elements are more than the 4 of tau: only `a` can be too short.
        return F::geqrf(handle, kN, kN, a, kN, b, &host_info, kCount);
      },
      false);
  this->expect_fault(
      [&](Api** a, Api** b) {
        return F::gels(
            handle,
            CUBLAS_OP_N,
            kN,
            kN,
            kN,
            a,
            kN,
            b,
            kN,
            &host_info,
            nullptr,
            kCount);
      },
      true);
}

TYPED_TEST(BadMemory, PivotsThatNameNoRowAreAnIllegalAddress) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  int host_info = 0;
  for (const int pivot : {0, -1, kN + 1, 1 << 30}) {
    std::vector<int> rows(kCount * kN, kN);
    rows[kN + 1] = pivot;
    for (const bool invert : {false, true}) {
      const Array<T> values(this->matrix(kN * kN));
      const Array<T> others(this->matrix(kN * kN));
      const Array<Api*> a(
          std::vector<Api*>(kCount, values.template get<Api>()));
      const Array<Api*> b(
          std::vector<Api*>(kCount, others.template get<Api>()));
      const Array<int> pivots(rows);
      const Array<int> info(std::vector<int>(kCount, 0));
      EXPECT_EQ(
          invert ? F::getri(
                       this->handle,
                       kN,
                       a.get(),
                       kN,
                       pivots.get(),
                       b.get(),
                       kN,
                       info.get(),
                       kCount)
                 : F::getrs(
                       this->handle,
                       CUBLAS_OP_N,
                       kN,
                       1,
                       a.get(),
                       kN,
                       pivots.get(),
                       b.get(),
                       kN,
                       &host_info,
                       kCount),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress) << pivot;
      ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    }
  }
}

TYPED_TEST(BadMemory, ThatACallNamesFailsIt) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  using Real = typename F::Real;
  const Array<T> values(this->matrix(kN * kN));
  Api* const a = values.template get<Api>();
  Api* const behind = a + kN * kN;
  const T one(1);
  const Api* alpha = this->scalar(&one);
  const auto refused = CUBLAS_STATUS_EXECUTION_FAILED;
  // Strides whose products wrap around, or that lead before the beginning.
  for (const long long stride : std::vector<long long>{
           1ll << 60, -1ll, INT64_MAX, INT64_MIN, 1ll << 62}) {
    EXPECT_EQ(
        F::gemm_strided(
            this->handle,
            CUBLAS_OP_N,
            CUBLAS_OP_N,
            kN,
            kN,
            kN,
            alpha,
            a,
            kN,
            stride,
            a,
            kN,
            0,
            alpha,
            a,
            kN,
            0,
            5),
        refused)
        << stride;
  }
  EXPECT_EQ(
      F::copy(this->handle, INT32_MAX, a, INT32_MAX, a, INT32_MAX), refused);
  // Scalars and results that are on the device.
  ASSERT_EQ(
      cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(F::axpy(this->handle, kN, behind, a, 1, a, 1), refused);
  EXPECT_EQ(F::scal(this->handle, kN, behind, a, 1), refused);
  EXPECT_EQ(
      F::nrm2(this->handle, kN, a, 1, reinterpret_cast<Real*>(behind)),
      refused);
  EXPECT_EQ(
      F::amax(this->handle, kN, a, 1, reinterpret_cast<int*>(behind)), refused);
  for (const bool first : {true, false}) {
    Api* const scalars[] = {first ? behind : a, first ? a : behind};
    EXPECT_EQ(
        F::gemm(
            this->handle,
            CUBLAS_OP_N,
            CUBLAS_OP_N,
            kN,
            kN,
            kN,
            scalars[0],
            a,
            kN,
            a,
            kN,
            scalars[1],
            a,
            kN),
        refused);
    EXPECT_EQ(
        F::gemv(
            this->handle,
            CUBLAS_OP_N,
            1,
            1,
            scalars[0],
            a,
            1,
            a,
            1,
            scalars[1],
            a,
            1),
        refused);
  }
  EXPECT_EQ(
      F::trsm(
          this->handle,
          CUBLAS_SIDE_LEFT,
          CUBLAS_FILL_MODE_LOWER,
          CUBLAS_OP_N,
          CUBLAS_DIAG_UNIT,
          kN,
          kN,
          behind,
          a,
          kN,
          a,
          kN),
      refused);
  // It is not the device's fault.
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

} // namespace
} // namespace accelerator::blas::testing
