// Batch normalization of the older API.
#include "runtime/libraries/dnn/compute/normalization.h"

#include "runtime/libraries/dnn/older/batch_norm.h"

namespace accelerator::dnn {

Layout parameters_of(const Layout& x, cudnnBatchNormMode_t mode) {
  require_valid(!x.dims.empty(), "a descriptor is not set");
  require_valid(
      mode >= CUDNN_BATCHNORM_PER_ACTIVATION &&
          mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT,
      "the mode is unknown");
  Dims dims(x.dims.size(), 1);
  if (mode == CUDNN_BATCHNORM_PER_ACTIVATION) {
    dims = x.dims;
    dims[0] = 1;
  } else {
    dims[1] = x.dims[1];
  }
  return {
      x.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
      dims,
      packed_strides(dims)};
}

namespace {

void require_operations(
    cudnnBatchNormOps_t operations,
    const cudnnActivationStruct* activation) {
  require_valid(
      operations >= CUDNN_BATCHNORM_OPS_BN &&
          operations <= CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION,
      "the operations are unknown");
  require_valid(
      operations == CUDNN_BATCHNORM_OPS_BN || activation != nullptr,
      "the activation is null");
  require_supported(
      operations == CUDNN_BATCHNORM_OPS_BN ||
          activation->mode == CUDNN_ACTIVATION_RELU,
      "only relu follows a batch normalization");
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnDeriveBNTensorDescriptor(
    cudnnTensorDescriptor_t parameters,
    const cudnnTensorDescriptor_t x,
    cudnnBatchNormMode_t mode) {
  return guarded(__func__, [&] {
    require_given(parameters, x);
    parameters->layout = parameters_of(x->layout, mode);
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    const void* alpha,
    const void* beta,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t y_tensor,
    void* y,
    const cudnnTensorDescriptor_t parameters,
    const void* scale,
    const void* bias,
    const void* mean,
    const void* variance,
    double epsilon) {
  return guarded(__func__, [&] {
    require_given(handle, x_tensor, x, y_tensor, y, parameters);
    require_given(scale, bias, mean, variance);
    const BatchNorm norm(x_tensor->layout, *parameters, mode, epsilon);
    const Layout& result = y_tensor->layout;
    require_valid(
        x_tensor->layout.dims == result.dims, "x and y differ in size");
    const Layout& shared = norm.parameters;
    compute(
        "cudnnBatchNormalizationForwardInference",
        handle,
        {{x_tensor->layout, x},
         {shared, scale},
         {shared, bias},
         {shared, mean},
         {shared, variance}},
        {result, y},
        scalar(alpha, result.type),
        scalar(beta, result.type),
        [epsilon](const auto& in) {
          using T = ElementOf<decltype(in)>;
          const Statistics<T> statistics{
              same(in[3]), inverse_deviation(in[4], epsilon)};
          return normalize(in[0], statistics, &in[1], &in[2]);
        });
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    const void* alpha,
    const void* beta,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t y_tensor,
    void* y,
    const cudnnTensorDescriptor_t parameters,
    const void* scale,
    const void* bias,
    double factor,
    void* running_mean,
    void* running_variance,
    double epsilon,
    void* saved_mean,
    void* saved_inverse) {
  return guarded(__func__, [&] {
    forward_training(
        "cudnnBatchNormalizationForwardTraining",
        handle,
        mode,
        CUDNN_BATCHNORM_OPS_BN,
        alpha,
        beta,
        x_tensor,
        x,
        nullptr,
        nullptr,
        y_tensor,
        y,
        parameters,
        scale,
        bias,
        factor,
        running_mean,
        running_variance,
        epsilon,
        saved_mean,
        saved_inverse);
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t operations,
    const void* alpha,
    const void* beta,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t z_tensor,
    const void* z,
    const cudnnTensorDescriptor_t y_tensor,
    void* y,
    const cudnnTensorDescriptor_t parameters,
    const void* scale,
    const void* bias,
    double factor,
    void* running_mean,
    void* running_variance,
    double epsilon,
    void* saved_mean,
    void* saved_inverse,
    cudnnActivationDescriptor_t activation,
    void*,
    std::size_t,
    void*,
    std::size_t) {
  return guarded(__func__, [&] {
    require_operations(operations, activation);
    forward_training(
        "cudnnBatchNormalizationForwardTrainingEx",
        handle,
        mode,
        operations,
        alpha,
        beta,
        x_tensor,
        x,
        z_tensor,
        z,
        y_tensor,
        y,
        parameters,
        scale,
        bias,
        factor,
        running_mean,
        running_variance,
        epsilon,
        saved_mean,
        saved_inverse);
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    const void* alpha_data,
    const void* beta_data,
    const void* alpha_parameters,
    const void* beta_parameters,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const cudnnTensorDescriptor_t dx_tensor,
    void* dx,
    const cudnnTensorDescriptor_t parameters,
    const void* scale,
    void* dscale,
    void* dbias,
    double epsilon,
    const void* saved_mean,
    const void* saved_inverse) {
  return guarded(__func__, [&] {
    backward(
        "cudnnBatchNormalizationBackward",
        handle,
        mode,
        CUDNN_BATCHNORM_OPS_BN,
        alpha_data,
        beta_data,
        alpha_parameters,
        beta_parameters,
        x_tensor,
        x,
        nullptr,
        nullptr,
        dy_tensor,
        dy,
        nullptr,
        nullptr,
        dx_tensor,
        dx,
        parameters,
        scale,
        dscale,
        dbias,
        epsilon,
        saved_mean,
        saved_inverse);
  });
}

cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t operations,
    const void* alpha_data,
    const void* beta_data,
    const void* alpha_parameters,
    const void* beta_parameters,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t y_tensor,
    const void* y,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const cudnnTensorDescriptor_t dz_tensor,
    void* dz,
    const cudnnTensorDescriptor_t dx_tensor,
    void* dx,
    const cudnnTensorDescriptor_t parameters,
    const void* scale,
    const void*,
    void* dscale,
    void* dbias,
    double epsilon,
    const void* saved_mean,
    const void* saved_inverse,
    cudnnActivationDescriptor_t activation,
    void*,
    std::size_t,
    void*,
    std::size_t) {
  return guarded(__func__, [&] {
    require_operations(operations, activation);
    backward(
        "cudnnBatchNormalizationBackwardEx",
        handle,
        mode,
        operations,
        alpha_data,
        beta_data,
        alpha_parameters,
        beta_parameters,
        x_tensor,
        x,
        y_tensor,
        y,
        dy_tensor,
        dy,
        dz_tensor,
        dz,
        dx_tensor,
        dx,
        parameters,
        scale,
        dscale,
        dbias,
        epsilon,
        saved_mean,
        saved_inverse);
  });
}

// The host needs no memory of the device, and keeps nothing for a gradient.
cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t,
    cudnnBatchNormOps_t,
    const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(handle, x, size);
    *size = 0;
  });
}

cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t,
    cudnnBatchNormOps_t,
    const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(handle, x, size);
    *size = 0;
  });
}

cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t handle,
    cudnnBatchNormMode_t,
    cudnnBatchNormOps_t,
    const cudnnActivationDescriptor_t,
    const cudnnTensorDescriptor_t x,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(handle, x, size);
    *size = 0;
  });
}

} // extern "C"
