// Descriptors of emulated floating point (CUDA 13): attributes are kept, and a
// product says that it has not emulated anything.
#include <cublasLt.h>

#include <cstdint>

#include "runtime/libraries/blas/testing/arrays.h"

// The header that this is built with does not have them.
extern "C" {
cublasStatus_t cublasLtEmulationDescCreate(void** descriptor);
cublasStatus_t cublasLtEmulationDescDestroy(void* descriptor);
cublasStatus_t cublasLtEmulationDescInit_internal(
    void* descriptor,
    std::size_t size);
cublasStatus_t cublasLtEmulationDescSetAttribute(
    void* descriptor,
    int attribute,
    const void* value,
    std::size_t size);
cublasStatus_t cublasLtEmulationDescGetAttribute(
    void* descriptor,
    int attribute,
    void* value,
    std::size_t size,
    std::size_t* written);
}

namespace accelerator::blas::testing {
namespace {

// The numbers of CUDA 13.5's cublasLt.h.
constexpr int kSpecialValues = 1; // …_DESC_SPECIAL_VALUES_SUPPORT
constexpr int kMantissaBits = 5; // …_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER
constexpr auto kDescriptor = static_cast<cublasLtMatmulDescAttributes_t>(38);

TEST(LtEmulation, AttributesAreKept) {
  std::uint64_t memory[8];
  ASSERT_EQ(
      cublasLtEmulationDescInit_internal(memory, sizeof(memory)),
      CUBLAS_STATUS_SUCCESS);
  for (int attribute = 0; attribute < 5; ++attribute) {
    std::int32_t value = -7;
    std::size_t written = 0;
    EXPECT_EQ(
        cublasLtEmulationDescGetAttribute(
            memory, attribute, &value, sizeof(value), &written),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(value, attribute == kSpecialValues ? 0xffff : 0);
    EXPECT_EQ(written, sizeof(value));
    value = attribute + 11;
    EXPECT_EQ(
        cublasLtEmulationDescSetAttribute(
            memory, attribute, &value, sizeof(value)),
        CUBLAS_STATUS_SUCCESS);
  }
  for (int attribute = 0; attribute < 5; ++attribute) {
    std::int32_t value = 0;
    EXPECT_EQ(
        cublasLtEmulationDescGetAttribute(
            memory, attribute, &value, sizeof(value), nullptr),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(value, attribute + 11);
  }
  std::int32_t value = 0;
  EXPECT_EQ(
      cublasLtEmulationDescSetAttribute(memory, 0, &value, 8),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasLtEmulationDescSetAttribute(memory, 6, &value, sizeof(value)),
      CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      cublasLtEmulationDescInit_internal(memory, 8),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasLtEmulationDescCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
}

TEST(LtEmulation, AProductSaysThatItHasNoneOfIt) {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t square = nullptr;
  void* emulation = nullptr;
  ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_64F, CUDA_R_64F),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      cublasLtMatrixLayoutCreate(&square, CUDA_R_64F, 2, 2, 2),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtEmulationDescCreate(&emulation), CUBLAS_STATUS_SUCCESS);
  const Array<std::int32_t> bits({55, 66});
  std::int32_t* const place = bits.get();
  EXPECT_EQ(
      cublasLtEmulationDescSetAttribute(
          emulation, kMantissaBits, &place, sizeof(place)),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(
          product, kDescriptor, &emulation, sizeof(emulation)),
      CUBLAS_STATUS_SUCCESS);
  const Array<double> a({1, 2, 3, 4}), d({0, 0, 0, 0});
  const double alpha = 1, beta = 0;
  EXPECT_EQ(
      cublasLtMatmul(
          handle,
          product,
          &alpha,
          a.get(),
          square,
          a.get(),
          square,
          &beta,
          d.get(),
          square,
          d.get(),
          square,
          nullptr,
          nullptr,
          0,
          nullptr),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d.values(), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(bits.values(), (std::vector<std::int32_t>{-1, 66}));
  EXPECT_EQ(cublasLtEmulationDescDestroy(emulation), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(square), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmulDescDestroy(product), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

} // namespace
} // namespace accelerator::blas::testing
