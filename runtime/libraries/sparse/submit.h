// cuSPARSE's work for streams: checks of arguments, memory, and scalars.
#pragma once

#include <cusparse.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <vector>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/descriptors.h"
#include "runtime/libraries/sparse/numbers.h"
#include "runtime/signatures/entry_points.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::sparse {

using stream_work::Extent;
using stream_work::reads;

/// What is done with an operand of a product.
constexpr auto kAsIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto kTurned = CUSPARSE_OPERATION_TRANSPOSE;
constexpr auto kConjugate = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;

/// The bytes that a work area has to have, which the host does not use.
constexpr std::size_t kWorkBytes = 16;

/// What has to hold, and what the answer is where it does not.
struct Rule {
  bool holds;
  cusparseStatus_t otherwise;
};

inline Rule valid(bool holds) {
  return {holds, CUSPARSE_STATUS_INVALID_VALUE};
}

inline Rule supported(bool holds) {
  return {holds, CUSPARSE_STATUS_NOT_SUPPORTED};
}

/// The answer of the first rule that does not hold.
cusparseStatus_t check(std::initializer_list<Rule> rules);

/// Whether there are all of these; functions of the generic API begin with it.
template <typename... T>
bool are_there(const T*... pointers) {
  return (... && (pointers != nullptr));
}

/// CUSPARSE_STATUS_NOT_INITIALIZED without a handle, with which functions that
/// are older than the generic API begin.
cusparseStatus_t check(
    cusparseHandle_t handle,
    std::initializer_list<Rule> rules);

/// Answers what a function's work area has to be.
template <typename Size>
cusparseStatus_t answer_work_size(cusparseStatus_t checked, Size* size) {
  if (checked != CUSPARSE_STATUS_SUCCESS) {
    return checked;
  }
  if (size == nullptr) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  *size = kWorkBytes;
  return CUSPARSE_STATUS_SUCCESS;
}

/// Operations of ENTRY_POINT for functions that are told what `kCheck` looks
/// at, and one thing more.
template <auto kCheck>
struct CheckedBy;
template <typename... Arguments, cusparseStatus_t (*kCheck)(Arguments...)>
struct CheckedBy<kCheck> {
  static cusparseStatus_t size_work(
      const char*,
      Arguments... arguments,
      std::size_t* size) {
    return answer_work_size(kCheck(arguments...), size);
  }
  /// There is nothing to prepare.
  static cusparseStatus_t prepare(const char*, Arguments... arguments, void*) {
    return kCheck(arguments...);
  }
};

/// A scalar argument: its value now, or, in CUSPARSE_POINTER_MODE_DEVICE, where
/// it will be when the work runs.
class Scalar {
 public:
  Scalar(const cusparseContext* handle, cudaDataType type, const void* pointer);

  template <typename W>
  W get() const {
    W value{};
    load(type_, on_device_ ? pointer_ : value_.data(), 0, 1, 1, &value);
    return value;
  }
  /// What the work will read on the device.
  Extent extent() const {
    return {pointer_, on_device_ ? size_of(type_) : 0};
  }

 private:
  bool on_device_;
  cudaDataType type_;
  const void* pointer_;
  alignas(16) std::array<unsigned char, 16> value_{};
};

/// The memory of elements, and of all arrays of what a descriptor stands for.
Extent array(const void* pointer, std::size_t size, std::int64_t count);
Extent memory_of(const cusparseDnVecDescr& vector);
Extent memory_of(const cusparseDnMatDescr& matrix);
std::vector<Extent> memory_of(const cusparseSpVecDescr& vector);
std::vector<Extent> memory_of(const cusparseSpMatDescr& matrix);

/// Pieces of memory that a call reaches.
class Memory {
 public:
  template <typename... Piece>
  explicit Memory(const Piece&... pieces) {
    (..., add(pieces));
  }
  bool is_there(const char* function) const;

 private:
  void add(const Extent& extent) {
    extents_.push_back(extent);
  }
  void add(const std::vector<Extent>& extents) {
    extents_.insert(extents_.end(), extents.begin(), extents.end());
  }
  std::vector<Extent> extents_;
};

/// Puts work into the handle's stream.
/// @param work returns whether the indices that it read were within the matrix;
/// otherwise the device is at fault, as after an access to an illegal address.
cusparseStatus_t submit(
    const char* function,
    cusparseHandle_t handle,
    const Memory& memory,
    std::function<bool()> work);

/// The same for work whose result the host needs: waits for the stream.
cusparseStatus_t submit_and_wait(
    const char* function,
    cusparseHandle_t handle,
    const Memory& memory,
    std::function<bool()> work);

/// Waits for the stream, if it is not being captured.
cusparseStatus_t wait_unless_captured(cusparseHandle_t handle);

} // namespace accelerator::sparse
