// Batch normalization in training, for functions of the older API.
#pragma once

#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {

/// What a call needs besides the tensors.
struct BatchNorm {
  Layout parameters;
  double epsilon;

  BatchNorm(
      const Layout& x,
      const cudnnTensorStruct& given,
      cudnnBatchNormMode_t mode,
      double epsilon_)
      : parameters(given.layout), epsilon(epsilon_) {
    require_known(x);
    require_known(parameters);
    require_valid(
        parameters.dims == parameters_of(x, mode).dims,
        "the parameters do not fit x and the mode");
    require_valid(epsilon >= CUDNN_BN_MIN_EPSILON, "epsilon is too small");
  }
};

/// @param operations what follows the normalization: a summand z, and an
/// activation.
/// @param factor by which running statistics, which may be null, are moved.
/// @param saved_mean and the other one may be null.
void forward_training(
    const char* function,
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t operations,
    const void* alpha,
    const void* beta,
    cudnnTensorDescriptor_t x_tensor,
    const void* x,
    cudnnTensorDescriptor_t z_tensor,
    const void* z,
    cudnnTensorDescriptor_t y_tensor,
    void* y,
    cudnnTensorDescriptor_t parameters,
    const void* scale,
    const void* bias,
    double factor,
    void* running_mean,
    void* running_variance,
    double epsilon,
    void* saved_mean,
    void* saved_inverse);

/// @param y the forward result, where an activation follows.
/// @param saved_mean and the other one may be null: they are computed then.
void backward(
    const char* function,
    cudnnHandle_t handle,
    cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t operations,
    const void* alpha_data,
    const void* beta_data,
    const void* alpha_parameters,
    const void* beta_parameters,
    cudnnTensorDescriptor_t x_tensor,
    const void* x,
    cudnnTensorDescriptor_t y_tensor,
    const void* y,
    cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    cudnnTensorDescriptor_t dz_tensor,
    void* dz,
    cudnnTensorDescriptor_t dx_tensor,
    void* dx,
    cudnnTensorDescriptor_t parameters,
    const void* scale,
    void* dscale,
    void* dbias,
    double epsilon,
    const void* saved_mean,
    const void* saved_inverse);

} // namespace accelerator::dnn
