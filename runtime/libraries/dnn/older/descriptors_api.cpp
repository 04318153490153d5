// Descriptors of tensors and filters.
#include <algorithm>

#include "runtime/libraries/dnn/older/descriptors.h"

namespace accelerator::dnn {
namespace {

void set(
    cudnnTensorStruct* tensor,
    cudnnDataType_t type,
    Dims dims,
    Dims strides) {
  require_supported(
      type != CUDNN_DATA_INT8x4 && type != CUDNN_DATA_UINT8x4 &&
          type != CUDNN_DATA_INT8x32,
      "tensors of vectors are not supported");
  require_valid(bits_of(type) != 0, "the data type is unknown");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    require_valid(dims[i] > 0, "a dimension is not positive");
    require_valid(
        strides[i] != 0 || dims[i] == 1,
        "a stride is 0, and its dimension is not 1");
    require_supported(strides[i] >= 0, "negative strides are not supported");
  }
  tensor->layout = {type, std::move(dims), std::move(strides)};
}

void require_format(cudnnTensorFormat_t format) {
  require_valid(
      format >= CUDNN_TENSOR_NCHW && format <= CUDNN_TENSOR_NCHW_VECT_C,
      "the format is unknown");
  require_supported(
      format != CUDNN_TENSOR_NCHW_VECT_C,
      "tensors of vectors are not supported");
}

/// The first four of a descriptor's numbers.
void answer(const Dims& values, std::initializer_list<int*> places) {
  std::size_t i = 0;
  for (int* place : places) {
    if (place != nullptr) {
      *place = i < values.size() ? static_cast<int>(values[i]) : 0;
    }
    ++i;
  }
}

template <typename T>
void answer_one(T* place, T value) {
  if (place != nullptr) {
    *place = value;
  }
}

void answer_some(const Dims& values, int most, int* places) {
  if (places != nullptr) {
    const auto count = std::min<std::size_t>(
        static_cast<std::size_t>(std::max(0, most)), values.size());
    std::transform(
        values.begin(), values.begin() + count, places, [](std::int64_t value) {
          return static_cast<int>(value);
        });
  }
}

} // namespace

Dims strides_of(cudnnTensorFormat_t format, const Dims& dims) {
  if (format != CUDNN_TENSOR_NHWC) {
    return packed_strides(dims);
  }
  Dims strides(dims.size());
  strides[1] = 1;
  std::int64_t stride = dims[1];
  for (std::size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  return strides;
}

} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  return create(__func__, tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return destroy(tensor);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(
    cudnnTensorDescriptor_t tensor,
    cudnnTensorFormat_t format,
    cudnnDataType_t type,
    int n,
    int c,
    int h,
    int w) {
  return guarded(__func__, [&] {
    require_given(tensor);
    require_format(format);
    const Dims dims{n, c, h, w};
    set(tensor, type, dims, strides_of(format, dims));
  });
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(
    cudnnTensorDescriptor_t tensor,
    cudnnDataType_t type,
    int n,
    int c,
    int h,
    int w,
    int n_stride,
    int c_stride,
    int h_stride,
    int w_stride) {
  return guarded(__func__, [&] {
    require_given(tensor);
    set(tensor, type, {n, c, h, w}, {n_stride, c_stride, h_stride, w_stride});
  });
}

cudnnStatus_t cudnnGetTensor4dDescriptor(
    const cudnnTensorDescriptor_t tensor,
    cudnnDataType_t* type,
    int* n,
    int* c,
    int* h,
    int* w,
    int* n_stride,
    int* c_stride,
    int* h_stride,
    int* w_stride) {
  return guarded(__func__, [&] {
    require_given(tensor);
    answer_one(type, tensor->layout.type);
    answer(tensor->layout.dims, {n, c, h, w});
    answer(tensor->layout.strides, {n_stride, c_stride, h_stride, w_stride});
  });
}

cudnnStatus_t cudnnSetTensorNdDescriptor(
    cudnnTensorDescriptor_t tensor,
    cudnnDataType_t type,
    int rank,
    const int dims[],
    const int strides[]) {
  return guarded(__func__, [&] {
    require_given(tensor, dims, strides);
    require_valid(rank >= 2, "a tensor has two dimensions at least");
    require_supported(
        rank <= CUDNN_DIM_MAX, "a tensor has eight dimensions at most");
    set(tensor, type, dims_of(dims, rank), dims_of(strides, rank));
  });
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(
    cudnnTensorDescriptor_t tensor,
    cudnnTensorFormat_t format,
    cudnnDataType_t type,
    int rank,
    const int dims[]) {
  return guarded(__func__, [&] {
    require_given(tensor, dims);
    require_format(format);
    require_valid(rank >= 2, "a tensor has two dimensions at least");
    require_supported(
        rank <= CUDNN_DIM_MAX, "a tensor has eight dimensions at most");
    const Dims sizes = dims_of(dims, rank);
    set(tensor, type, sizes, strides_of(format, sizes));
  });
}

cudnnStatus_t cudnnGetTensorNdDescriptor(
    const cudnnTensorDescriptor_t tensor,
    int most,
    cudnnDataType_t* type,
    int* rank,
    int dims[],
    int strides[]) {
  return guarded(__func__, [&] {
    require_given(tensor);
    answer_one(type, tensor->layout.type);
    answer_one(rank, static_cast<int>(tensor->layout.dims.size()));
    answer_some(tensor->layout.dims, most, dims);
    answer_some(tensor->layout.strides, most, strides);
  });
}

cudnnStatus_t cudnnGetTensorSizeInBytes(
    const cudnnTensorDescriptor_t tensor,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(tensor, size);
    *size = tensor->layout.dims.empty() ? 0 : tensor->layout.bytes();
  });
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  return create(__func__, filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  return destroy(filter);
}

cudnnStatus_t cudnnSetFilterNdDescriptor(
    cudnnFilterDescriptor_t filter,
    cudnnDataType_t type,
    cudnnTensorFormat_t format,
    int rank,
    const int dims[]) {
  return guarded(__func__, [&] {
    require_given(filter, dims);
    require_format(format);
    require_valid(rank > 2, "a filter has three dimensions at least");
    require_supported(
        rank <= CUDNN_DIM_MAX, "a filter has eight dimensions at most");
    const Dims sizes = dims_of(dims, rank);
    cudnnTensorStruct tensor;
    set(&tensor, type, sizes, strides_of(format, sizes));
    filter->layout = tensor.layout;
    filter->format = format;
  });
}

cudnnStatus_t cudnnSetFilter4dDescriptor(
    cudnnFilterDescriptor_t filter,
    cudnnDataType_t type,
    cudnnTensorFormat_t format,
    int k,
    int c,
    int h,
    int w) {
  const int dims[] = {k, c, h, w};
  return cudnnSetFilterNdDescriptor(filter, type, format, 4, dims);
}

cudnnStatus_t cudnnGetFilterNdDescriptor(
    const cudnnFilterDescriptor_t filter,
    int most,
    cudnnDataType_t* type,
    cudnnTensorFormat_t* format,
    int* rank,
    int dims[]) {
  return guarded(__func__, [&] {
    require_given(filter);
    answer_one(type, filter->layout.type);
    answer_one(format, filter->format);
    answer_one(rank, static_cast<int>(filter->layout.dims.size()));
    answer_some(filter->layout.dims, most, dims);
  });
}

cudnnStatus_t cudnnGetFilter4dDescriptor(
    const cudnnFilterDescriptor_t filter,
    cudnnDataType_t* type,
    cudnnTensorFormat_t* format,
    int* k,
    int* c,
    int* h,
    int* w) {
  return guarded(__func__, [&] {
    require_given(filter);
    answer_one(type, filter->layout.type);
    answer_one(format, filter->format);
    answer(filter->layout.dims, {k, c, h, w});
  });
}

cudnnStatus_t cudnnGetFilterSizeInBytes(
    const cudnnFilterDescriptor_t filter,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(filter, size);
    *size = filter->layout.dims.empty() ? 0 : filter->layout.bytes();
  });
}

} // extern "C"
