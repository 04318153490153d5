// What tests of descriptors share: places that are never read, and how a
// descriptor is made and destroyed.
#pragma once

#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {

constexpr auto kNarrow = CUSPARSE_INDEX_32I;
constexpr auto kWide = CUSPARSE_INDEX_64I;
constexpr auto kZero = CUSPARSE_INDEX_BASE_ZERO;
constexpr auto kOne = CUSPARSE_INDEX_BASE_ONE;
constexpr auto kFloat = CUDA_R_32F;
constexpr auto kByRows = CUSPARSE_ORDER_ROW;
constexpr auto kByColumns = CUSPARSE_ORDER_COL;

inline void* const p = reinterpret_cast<void*>(0x10000);
inline void* const q = reinterpret_cast<void*>(0x20000);
inline void* const r = reinterpret_cast<void*>(0x30000);
inline void* const odd = reinterpret_cast<void*>(0x10001);

/// The answer to a call that may make a descriptor.
template <typename Descriptor, typename Destroy, typename Create, typename... T>
cusparseStatus_t make(Destroy destroy, Create create, T... arguments) {
  Descriptor made = nullptr;
  const cusparseStatus_t status = create(&made, arguments...);
  EXPECT_EQ(status == kGood, made != nullptr);
  EXPECT_EQ(destroy(made), kGood);
  return status;
}

template <typename Create, typename... T>
cusparseStatus_t make_matrix(Create create, T... arguments) {
  return make<cusparseSpMatDescr_t>(cusparseDestroySpMat, create, arguments...);
}

} // namespace accelerator::sparse::testing
