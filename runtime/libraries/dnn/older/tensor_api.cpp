// Functions of whole tensors.
#include <algorithm>
#include <cmath>

#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {
namespace {

/// Whether a tensor can be repeated to be as large as another one.
bool can_repeat(const Dims& from, const Dims& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from.size() != to.size() || (from[i] != 1 && from[i] != to[i])) {
      return false;
    }
  }
  return true;
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnAddTensor(
    cudnnHandle_t handle,
    const void* alpha,
    const cudnnTensorDescriptor_t a_tensor,
    const void* a,
    const void* beta,
    const cudnnTensorDescriptor_t c_tensor,
    void* c) {
  return guarded(__func__, [&] {
    require_given(handle, a_tensor, a, c_tensor, c);
    const Layout& result = c_tensor->layout;
    require_valid(
        can_repeat(a_tensor->layout.dims, result.dims),
        "a does not fit the result");
    compute(
        "cudnnAddTensor",
        handle,
        {{a_tensor->layout, a}},
        {result, c},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [dims = result.dims](const auto& in) {
          using T = ElementOf<decltype(in)>;
          return combine(dims, in[0], in[0], [](T v, T) { return v; });
        });
  });
}

cudnnStatus_t cudnnTransformTensor(
    cudnnHandle_t handle,
    const void* alpha,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const void* beta,
    const cudnnTensorDescriptor_t y_tensor,
    void* y) {
  return guarded(__func__, [&] {
    require_given(handle, x_tensor, x, y_tensor, y);
    const Layout& result = y_tensor->layout;
    require_valid(
        x_tensor->layout.dims == result.dims, "x and y differ in size");
    compute(
        "cudnnTransformTensor",
        handle,
        {{x_tensor->layout, x}},
        {result, y},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [](const auto& in) { return same(in[0]); });
  });
}

cudnnStatus_t cudnnScaleTensor(
    cudnnHandle_t handle,
    const cudnnTensorDescriptor_t tensor,
    void* y,
    const void* alpha) {
  return guarded(__func__, [&] {
    require_given(handle, tensor, y);
    compute(
        "cudnnScaleTensor",
        handle,
        {{tensor->layout, y}},
        {tensor->layout, y},
        scalar(alpha, tensor->layout.type),
        0,
        [](const auto& in) { return same(in[0]); });
  });
}

cudnnStatus_t cudnnSetTensor(
    cudnnHandle_t handle,
    const cudnnTensorDescriptor_t tensor,
    void* y,
    const void* value) {
  return guarded(__func__, [&] {
    require_given(handle, tensor, y, value);
    require_known(tensor->layout);
    double number = 0;
    load(tensor->layout.type, value, 0, 1, 1, &number);
    compute(
        "cudnnSetTensor",
        handle,
        {},
        {tensor->layout, y},
        1,
        0,
        [number, dims = tensor->layout.dims](const auto& in) {
          using T = ElementOf<decltype(in)>;
          Array<T> result(dims);
          T* to = result.writable();
          std::fill_n(to, result.size(), static_cast<T>(number));
          return result;
        });
  });
}

cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t* how) {
  return create(__func__, how);
}

cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t how) {
  return destroy(how);
}

cudnnStatus_t cudnnSetOpTensorDescriptor(
    cudnnOpTensorDescriptor_t how,
    cudnnOpTensorOp_t operation,
    cudnnDataType_t type,
    cudnnNanPropagation_t nans) {
  return guarded(__func__, [&] {
    require_given(how);
    require_valid(
        operation >= CUDNN_OP_TENSOR_ADD && operation <= CUDNN_OP_TENSOR_NOT,
        "the operation is unknown");
    require_valid(
        type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE ||
            type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16,
        "the operation is not computed in this type");
    *how = {operation, type, nans};
  });
}

cudnnStatus_t cudnnGetOpTensorDescriptor(
    const cudnnOpTensorDescriptor_t how,
    cudnnOpTensorOp_t* operation,
    cudnnDataType_t* type,
    cudnnNanPropagation_t* nans) {
  return guarded(__func__, [&] {
    require_given(how, operation, type, nans);
    *operation = how->operation;
    *type = how->type;
    *nans = how->nans;
  });
}

cudnnStatus_t cudnnOpTensor(
    cudnnHandle_t handle,
    const cudnnOpTensorDescriptor_t how,
    const void* alpha1,
    const cudnnTensorDescriptor_t a_tensor,
    const void* a,
    const void* alpha2,
    const cudnnTensorDescriptor_t b_tensor,
    const void* b,
    const void* beta,
    const cudnnTensorDescriptor_t c_tensor,
    void* c) {
  return guarded(__func__, [&] {
    require_given(handle, how, a_tensor, a, c_tensor, c);
    const Layout& result = c_tensor->layout;
    const bool is_unary = how->operation == CUDNN_OP_TENSOR_SQRT ||
        how->operation == CUDNN_OP_TENSOR_NOT;
    require_valid(
        a_tensor->layout.dims == result.dims, "a and c differ in size");
    std::vector<Operand> operands{{a_tensor->layout, a}};
    if (!is_unary) {
      require_given(b_tensor, b);
      require_valid(
          can_repeat(b_tensor->layout.dims, result.dims),
          "b does not fit the result");
      operands.push_back({b_tensor->layout, b});
    }
    const double first = scalar(alpha1, result.type);
    const double second = is_unary ? 1 : scalar(alpha2, result.type);
    compute(
        "cudnnOpTensor",
        handle,
        std::move(operands),
        {result, c},
        1,
        scalar(beta, result.type),
        [first, second, operation = how->operation, dims = result.dims](
            const auto& in) {
          using T = ElementOf<decltype(in)>;
          const auto& other = in.back();
          return combine(
              dims, in[0], other, [first, second, operation](T p, T q) {
                const T x = static_cast<T>(first) * p;
                const T y = static_cast<T>(second) * q;
                switch (operation) {
                  case CUDNN_OP_TENSOR_ADD:
                    return x + y;
                  case CUDNN_OP_TENSOR_MUL:
                    return x * y;
                  case CUDNN_OP_TENSOR_MIN:
                    return y < x || std::isnan(y) ? y : x;
                  case CUDNN_OP_TENSOR_MAX:
                    return y > x || std::isnan(y) ? y : x;
                  case CUDNN_OP_TENSOR_SQRT:
                    return std::sqrt(x);
                  default:
                    return 1 - x;
                }
              });
        });
  });
}

} // extern "C"
