#include "runtime/libraries/sparse/submit.h"

#include <cstring>
#include <utility>

namespace accelerator::sparse {
namespace {

Extent strided(
    const void* pointer,
    std::size_t size,
    std::int64_t count,
    std::int64_t stride,
    int batches) {
  return stream_work::strided_extent(
      pointer,
      stream_work::times(size, static_cast<std::size_t>(count)),
      stride,
      size,
      batches);
}

} // namespace

cusparseStatus_t check(std::initializer_list<Rule> rules) {
  for (const Rule& rule : rules) {
    if (!rule.holds) {
      return rule.otherwise;
    }
  }
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check(
    cusparseHandle_t handle,
    std::initializer_list<Rule> rules) {
  return handle == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : check(rules);
}

Scalar::Scalar(
    const cusparseContext* handle,
    cudaDataType type,
    const void* pointer)
    : on_device_(handle->pointer_mode != CUSPARSE_POINTER_MODE_HOST),
      type_(type),
      pointer_(pointer) {
  if (!on_device_) {
    std::memcpy(value_.data(), pointer, size_of(type));
  }
}

Extent array(const void* pointer, std::size_t size, std::int64_t count) {
  return strided(pointer, size, count, 0, 1);
}

Extent memory_of(const cusparseDnVecDescr& vector) {
  return array(vector.values, size_of(vector.type), vector.size);
}

Extent memory_of(const cusparseDnMatDescr& matrix) {
  const bool by_columns = matrix.order == CUSPARSE_ORDER_COL;
  const std::size_t bytes = stream_work::matrix_bytes(
      by_columns ? matrix.rows : matrix.columns,
      by_columns ? matrix.columns : matrix.rows,
      matrix.leading,
      size_of(matrix.type));
  return stream_work::strided_extent(
      matrix.values,
      bytes,
      matrix.stride,
      size_of(matrix.type),
      matrix.batches);
}

std::vector<Extent> memory_of(const cusparseSpVecDescr& vector) {
  return {
      array(vector.indices, size_of(vector.index_type), vector.nnz),
      array(vector.values, size_of(vector.type), vector.nnz)};
}

std::vector<Extent> memory_of(const cusparseSpMatDescr& matrix) {
  const std::size_t index = size_of(matrix.index_type);
  // Without entries there may be no array at all.
  const std::int64_t offsets =
      matrix.nnz == 0 && matrix.offsets == nullptr ? 0 : offsets_count(matrix);
  return {
      strided(
          matrix.offsets,
          index,
          offsets,
          matrix.offsets_stride,
          matrix.batches),
      strided(
          matrix.indices,
          index,
          indices_count(matrix),
          matrix.indices_stride,
          matrix.batches),
      strided(
          matrix.values,
          size_of(matrix.type),
          values_count(matrix),
          matrix.values_stride,
          matrix.batches)};
}

bool Memory::is_there(const char* function) const {
  return std::all_of(
      extents_.begin(), extents_.end(), [function](const Extent& extent) {
        return stream_work::accessible(function, {extent});
      });
}

cusparseStatus_t submit(
    const char* function,
    cusparseHandle_t handle,
    const Memory& memory,
    std::function<bool()> work) {
  if (!memory.is_there(function)) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  const cudaError_t error = stream_work::enqueue_checked(
      function, handle->stream, [function, work = std::move(work)] {
        return stream_work::without_exceptions(function, [&] {
          return work() ? cudaSuccess : cudaErrorIllegalAddress;
        });
      });
  if (error == cudaErrorNotSupported) {
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                              : CUSPARSE_STATUS_EXECUTION_FAILED;
}

cusparseStatus_t submit_and_wait(
    const char* function,
    cusparseHandle_t handle,
    const Memory& memory,
    std::function<bool()> work) {
  const cusparseStatus_t status =
      submit(function, handle, memory, std::move(work));
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return cudaStreamSynchronize(handle->stream) == cudaSuccess
      ? CUSPARSE_STATUS_SUCCESS
      : CUSPARSE_STATUS_EXECUTION_FAILED;
}

cusparseStatus_t wait_unless_captured(cusparseHandle_t handle) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(handle->stream, &status);
  if (error == cudaSuccess && status == cudaStreamCaptureStatusNone) {
    error = cudaStreamSynchronize(handle->stream);
  }
  return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                              : CUSPARSE_STATUS_EXECUTION_FAILED;
}

} // namespace accelerator::sparse
