// Reductions of the older API.
#include "runtime/libraries/dnn/compute/reduction.h"

#include <cstring>

#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {
namespace {

bool has_indices(const cudnnReduceTensorStruct& how) {
  return how.indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES &&
      (how.operation == CUDNN_REDUCE_TENSOR_MIN ||
       how.operation == CUDNN_REDUCE_TENSOR_MAX ||
       how.operation == CUDNN_REDUCE_TENSOR_AMAX);
}

std::size_t index_size(cudnnIndicesType_t type) {
  switch (type) {
    case CUDNN_64BIT_INDICES:
      return 8;
    case CUDNN_16BIT_INDICES:
      return 2;
    case CUDNN_8BIT_INDICES:
      return 1;
    default:
      return 4;
  }
}

void require_reducible(const Layout& a, const Layout& c) {
  require_known(a);
  require_known(c);
  bool fits = a.dims.size() == c.dims.size();
  for (std::size_t i = 0; fits && i < a.dims.size(); ++i) {
    fits = c.dims[i] == 1 || c.dims[i] == a.dims[i];
  }
  require_valid(fits, "the tensors of a reduction do not fit each other");
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnCreateReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t* how) {
  return create(__func__, how);
}

cudnnStatus_t cudnnDestroyReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t how) {
  return destroy(how);
}

cudnnStatus_t cudnnSetReduceTensorDescriptor(
    cudnnReduceTensorDescriptor_t how,
    cudnnReduceTensorOp_t operation,
    cudnnDataType_t type,
    cudnnNanPropagation_t nans,
    cudnnReduceTensorIndices_t indices,
    cudnnIndicesType_t indices_type) {
  return guarded(__func__, [&] {
    require_given(how);
    require_valid(
        operation >= CUDNN_REDUCE_TENSOR_ADD &&
            operation <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS,
        "the operation is unknown");
    *how = {operation, type, nans, indices, indices_type};
  });
}

cudnnStatus_t cudnnGetReduceTensorDescriptor(
    const cudnnReduceTensorDescriptor_t how,
    cudnnReduceTensorOp_t* operation,
    cudnnDataType_t* type,
    cudnnNanPropagation_t* nans,
    cudnnReduceTensorIndices_t* indices,
    cudnnIndicesType_t* indices_type) {
  return guarded(__func__, [&] {
    require_given(how, operation, type, nans, indices, indices_type);
    *operation = how->operation;
    *type = how->type;
    *nans = how->nans;
    *indices = how->indices;
    *indices_type = how->indices_type;
  });
}

cudnnStatus_t cudnnGetReductionIndicesSize(
    cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t how,
    const cudnnTensorDescriptor_t a,
    const cudnnTensorDescriptor_t c,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(handle, how, a, c, size);
    require_reducible(a->layout, c->layout);
    *size = has_indices(*how)
        ? static_cast<std::size_t>(count_of(c->layout.dims)) *
            index_size(how->indices_type)
        : 0;
  });
}

cudnnStatus_t cudnnGetReductionWorkspaceSize(
    cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t how,
    const cudnnTensorDescriptor_t a,
    const cudnnTensorDescriptor_t c,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(handle, how, a, c, size);
    require_reducible(a->layout, c->layout);
    *size = 0;
  });
}

cudnnStatus_t cudnnReduceTensor(
    cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t how,
    void* indices,
    std::size_t indices_size,
    void*,
    std::size_t,
    const void* alpha,
    const cudnnTensorDescriptor_t a_tensor,
    const void* a,
    const void* beta,
    const cudnnTensorDescriptor_t c_tensor,
    void* c) {
  return guarded(__func__, [&] {
    require_given(handle, how, a_tensor, a, c_tensor, c);
    const Layout& result = c_tensor->layout;
    require_reducible(a_tensor->layout, result);
    const bool with_indices = has_indices(*how);
    const std::size_t width = index_size(how->indices_type);
    const std::int64_t count = count_of(result.dims);
    if (with_indices) {
      const std::size_t bytes = static_cast<std::size_t>(count) * width;
      require_valid(
          indices != nullptr && indices_size >= bytes,
          "there is no room for the indices");
      require(
          accelerator::stream_work::accessible(
              "cudnnReduceTensor", {{indices, bytes}}),
          CUDNN_STATUS_EXECUTION_FAILED,
          "the indices lie out of bounds");
    }
    compute(
        "cudnnReduceTensor",
        handle,
        {{a_tensor->layout, a}},
        {result, c},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [=, operation = how->operation, dims = result.dims](const auto& in) {
          if (with_indices) {
            const std::vector<std::int64_t> places =
                extreme_places(operation, in[0], dims);
            for (std::size_t i = 0; i < places.size(); ++i) {
              // The lower bytes come first.
              std::memcpy(
                  static_cast<char*>(indices) + i * width, &places[i], width);
            }
          }
          return reduce(operation, in[0], dims);
        });
  });
}

} // extern "C"
