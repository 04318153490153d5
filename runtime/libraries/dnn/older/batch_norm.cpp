#include "runtime/libraries/dnn/older/batch_norm.h"

#include "runtime/libraries/dnn/compute/normalization.h"

namespace accelerator::dnn {
namespace {

template <typename T>
void write_moved(
    const Layout& layout,
    void* memory,
    const Array<T>& made,
    double factor) {
  if (factor == 1) {
    write(layout, memory, made); // whatever was there
    return;
  }
  const Array<T> old = read<T>(layout, memory);
  write(layout, memory, combine(layout.dims, old, made, [factor](T a, T b) {
          return static_cast<T>((1 - factor) * a + factor * b);
        }));
}

} // namespace

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
    void* saved_inverse) {
  require_given(handle, x_tensor, x, y_tensor, y, parameters, scale, bias);
  const BatchNorm norm(x_tensor->layout, *parameters, mode, epsilon);
  const Layout given = x_tensor->layout;
  const Layout made = y_tensor->layout;
  require_valid(made.dims == given.dims, "x and y differ in size");
  require_valid(
      (running_mean == nullptr) == (running_variance == nullptr) &&
          (saved_mean == nullptr) == (saved_inverse == nullptr),
      "one of two statistics is missing");
  const double a = scalar(alpha, given.type);
  const double b = scalar(beta, given.type);
  std::vector<Operand> operands{
      {given, x},
      {norm.parameters, scale},
      {norm.parameters, bias},
      {made, y, b != 0}};
  const bool adds = operations == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
  if (adds) {
    require_given(z_tensor, z);
    require_valid(
        z_tensor->layout.dims == given.dims, "x and z differ in size");
    operands.push_back({z_tensor->layout, z});
  }
  for (void* statistic : {running_mean, running_variance}) {
    if (statistic != nullptr) {
      operands.push_back({norm.parameters, statistic, factor != 1});
    }
  }
  for (void* statistic : {saved_mean, saved_inverse}) {
    if (statistic != nullptr) {
      operands.push_back({norm.parameters, statistic, false});
    }
  }
  const Layout added = adds ? z_tensor->layout : Layout();
  submit(
      function,
      handle->stream,
      std::move(operands),
      [=, shared = norm.parameters] {
        in_type(in_double({given, made, shared}), [&](auto zero) {
          using T = decltype(zero);
          const Array<T> values = read<T>(given, x);
          const Array<T> factors = read<T>(shared, scale);
          const Array<T> shifts = read<T>(shared, bias);
          Array<T> variance;
          const Statistics<T> statistics =
              statistics_of(values, shared.dims, true, epsilon, &variance);
          Array<T> result = normalize(values, statistics, &factors, &shifts);
          if (adds) {
            result =
                combine(result.dims(), result, read<T>(added, z), [](T p, T q) {
                  return p + q;
                });
          }
          if (operations != CUDNN_BATCHNORM_OPS_BN) {
            result = combine(result.dims(), result, result, [](T v, T) {
              return v < 0 ? T{} : v;
            });
          }
          blend<T>({made, y}, std::move(result), a, b);
          if (running_mean != nullptr) {
            const double count = static_cast<double>(values.size()) /
                static_cast<double>(variance.size());
            // Of a sample, not of the batch.
            const T more = static_cast<T>(count > 1 ? count / (count - 1) : 1);
            write_moved(shared, running_mean, *statistics.mean, factor);
            write_moved(
                shared,
                running_variance,
                combine(
                    shared.dims,
                    variance,
                    variance,
                    [more](T v, T) { return v * more; }),
                factor);
          }
          if (saved_mean != nullptr) {
            write(shared, saved_mean, *statistics.mean);
            write(shared, saved_inverse, statistics.inverse);
          }
        });
      });
}

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
    const void* saved_inverse) {
  require_given(handle, x_tensor, x, dy_tensor, dy, dx_tensor, dx);
  require_given(parameters, scale, dscale, dbias);
  const BatchNorm norm(x_tensor->layout, *parameters, mode, epsilon);
  const Layout given = x_tensor->layout;
  const Layout gradient = dy_tensor->layout;
  const Layout made = dx_tensor->layout;
  require_valid(
      made.dims == given.dims && gradient.dims == given.dims,
      "x, dy and dx differ in size");
  require_valid(
      (saved_mean == nullptr) == (saved_inverse == nullptr),
      "one of two statistics is missing");
  const double a = scalar(alpha_data, given.type);
  const double b = scalar(beta_data, given.type);
  const double c = scalar(alpha_parameters, given.type);
  const double d = scalar(beta_parameters, given.type);
  std::vector<Operand> operands{
      {given, x},
      {gradient, dy},
      {made, dx, b != 0},
      {norm.parameters, scale},
      {norm.parameters, dscale, d != 0},
      {norm.parameters, dbias, d != 0}};
  const bool activates = operations != CUDNN_BATCHNORM_OPS_BN;
  const bool adds = operations == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
  Layout result;
  Layout passed;
  if (activates) {
    require_given(y_tensor, y);
    result = y_tensor->layout;
    operands.push_back({result, y});
  }
  if (adds) {
    require_given(dz_tensor, dz);
    passed = dz_tensor->layout;
    operands.push_back({passed, dz, false});
  }
  for (const void* statistic : {saved_mean, saved_inverse}) {
    if (statistic != nullptr) {
      operands.push_back({norm.parameters, statistic});
    }
  }
  submit(
      function,
      handle->stream,
      std::move(operands),
      [=, shared = norm.parameters] {
        in_type(in_double({given, made, shared}), [&](auto zero) {
          using T = decltype(zero);
          const Array<T> values = read<T>(given, x);
          const Array<T> factors = read<T>(shared, scale);
          Array<T> slopes = read<T>(gradient, dy);
          if (activates) {
            slopes = combine(
                slopes.dims(), slopes, read<T>(result, y), [](T s, T v) {
                  return v > 0 ? s : T{};
                });
          }
          Statistics<T> statistics;
          if (saved_mean != nullptr) {
            statistics.mean = read<T>(shared, saved_mean);
            statistics.inverse = read<T>(shared, saved_inverse);
          } else {
            statistics = statistics_of<T>(values, shared.dims, true, epsilon);
          }
          NormalizationGradients<T> gradients = normalize_backward(
              values, slopes, statistics, &factors, shared.dims);
          if (adds) {
            write(passed, dz, slopes);
          }
          blend<T>({made, dx}, std::move(gradients.dx), a, b);
          blend<T>({shared, dscale}, std::move(gradients.dscale), c, d);
          blend<T>({shared, dbias}, std::move(gradients.dbias), c, d);
        });
      });
}

} // namespace accelerator::dnn
