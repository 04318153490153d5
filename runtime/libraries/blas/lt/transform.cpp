// cublasLtMatrixTransform: C = alpha * op(A) + beta * op(B), in any order of
// elements. Source: cuBLAS API, chapter 3.4.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/lt/descriptors.h"
#include "runtime/libraries/blas/lt/layout.h"
#include "runtime/libraries/blas/mixed.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas::lt {
namespace {

constexpr const char* kTransform = "cublasLtMatrixTransform";

/// A or B, with its factor.
struct Operand {
  const void* data = nullptr; // null: there is none
  MatrixLayout layout{};
  cublasOperation_t operation = CUBLAS_OP_N;
  const void* device_factor = nullptr; // null: `factor` holds it
  alignas(16) char factor[16] = {};

  double value_of_factor(cudaDataType_t scale) const {
    return load(scale, device_factor != nullptr ? device_factor : factor, 0);
  }
  double at(int batch, std::int64_t row, std::int64_t column) const {
    const bool is_turned = operation != CUBLAS_OP_N;
    return load(
        layout.type,
        batch_of(data, layout, batch),
        is_turned ? place_of(layout, column, row)
                  : place_of(layout, row, column));
  }
};

struct Transform {
  cudaDataType_t scale;
  Operand a, b;
  void* c;
  MatrixLayout c_layout;
};

/// The sum of two products, as numbers of the scale's type.
double scaled_sum(
    cudaDataType_t scale,
    double alpha,
    double a,
    double beta,
    double b) {
  const auto product = [](double x, double y) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(x)) *
        static_cast<std::uint32_t>(static_cast<std::int64_t>(y));
  };
  switch (scale) {
    case CUDA_R_32I:
      return static_cast<std::int32_t>(product(alpha, a) + product(beta, b));
    case CUDA_R_32F:
      return static_cast<float>(
          alpha * static_cast<float>(a) + beta * static_cast<float>(b));
    default:
      return alpha * a + beta * b;
  }
}

void run_transform(const Transform& call) {
  const auto rows = static_cast<std::int64_t>(call.c_layout.rows);
  const auto columns = static_cast<std::int64_t>(call.c_layout.columns);
  const int batches = call.c_layout.batch_count;
  double factors[2] = {};
  const Operand* const operands[] = {&call.a, &call.b};
  for (int i = 0; i < 2; ++i) {
    const Operand& operand = *operands[i];
    if (operand.data == nullptr) {
      continue;
    }
    if (operand.device_factor != nullptr) {
      reads({Read(operand.device_factor, size_of(call.scale))});
    }
    factors[i] = operand.value_of_factor(call.scale);
    // What is multiplied by zero is not read, as in cuBLAS's other functions.
    if (factors[i] != 0) {
      reads({read_of(operand.data, operand.layout, batches)});
    }
  }
  std::vector<double> sums(static_cast<std::size_t>(rows * columns));
  for (int batch = 0; batch < batches; ++batch) {
    const auto element = [&](int i, std::int64_t row, std::int64_t column) {
      return factors[i] == 0 ? 0.0 : operands[i]->at(batch, row, column);
    };
    // C may be A or B.
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) {
        sums[column * rows + row] = scaled_sum(
            call.scale,
            factors[0],
            element(0, row, column),
            factors[1],
            element(1, row, column));
      }
    }
    char* const c = const_cast<char*>(batch_of(call.c, call.c_layout, batch));
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) {
        store(
            call.c_layout.type,
            c,
            place_of(call.c_layout, row, column),
            sums[column * rows + row]);
      }
    }
  }
}

bool is_integer(cudaDataType_t type) {
  return type == CUDA_R_8I || type == CUDA_R_32I;
}

/// Whether this library has such a matrix; says on stderr what it lacks.
cublasStatus_t check_layout(const MatrixLayout& layout, cudaDataType_t scale) {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (size_of(layout.type) == 0 || is_complex(layout.type) ||
      !has_known_order(layout) ||
      (scale == CUDA_R_32I && !is_integer(layout.type)) ||
      layout.rows > kMost || layout.columns > kMost) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: %llu x %llu elements of data type %d in order %d with "
        "scale type %d are not supported\n",
        kTransform,
        static_cast<unsigned long long>(layout.rows),
        static_cast<unsigned long long>(layout.columns),
        static_cast<int>(layout.type),
        static_cast<int>(layout.order),
        static_cast<int>(scale));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return lies_apart(layout) && layout.batch_count >= 0
      ? CUBLAS_STATUS_SUCCESS
      : CUBLAS_STATUS_INVALID_VALUE;
}

/// Checks a call's A or B, and takes it over.
cublasStatus_t take(
    const TransformDesc& desc,
    const MatrixLayout& c,
    const void* factor,
    const void* data,
    cublasLtMatrixLayout_t layout,
    cublasOperation_t operation,
    Operand* operand) {
  if (data == nullptr) {
    return CUBLAS_STATUS_SUCCESS;
  }
  if (layout == nullptr || factor == nullptr || !host::known(operation)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const MatrixLayout& its = of(layout);
  if (const auto status = check_layout(its, desc.scale);
      status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  const bool is_turned = operation != CUBLAS_OP_N;
  if ((is_turned ? its.columns : its.rows) != c.rows ||
      (is_turned ? its.rows : its.columns) != c.columns ||
      its.batch_count != c.batch_count) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  operand->data = data;
  operand->layout = its;
  operand->operation = operation;
  if (desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE) {
    operand->device_factor = factor;
  } else {
    std::memcpy(operand->factor, factor, size_of(desc.scale));
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool is_reachable(const Transform& call) {
  for (const Operand* const operand : {&call.a, &call.b}) {
    if (operand->data == nullptr) {
      continue;
    }
    const bool is_read = operand->device_factor != nullptr ||
        operand->value_of_factor(call.scale) != 0;
    const Extent factor{
        operand->device_factor,
        operand->device_factor == nullptr ? 0 : size_of(call.scale)};
    if (!accessible(
            kTransform,
            {memory_of(
                 operand->data,
                 operand->layout,
                 is_read ? operand->layout.batch_count : 0),
             factor})) {
      return false;
    }
  }
  return accessible(
      kTransform,
      {memory_of(call.c, call.c_layout, call.c_layout.batch_count)});
}

} // namespace
} // namespace accelerator::blas::lt

namespace blas = accelerator::blas;
namespace lt = accelerator::blas::lt;

extern "C" {

cublasStatus_t cublasLtMatrixTransform(
    cublasLtHandle_t handle,
    cublasLtMatrixTransformDesc_t descriptor,
    const void* alpha,
    const void* a,
    cublasLtMatrixLayout_t a_layout,
    const void* beta,
    const void* b,
    cublasLtMatrixLayout_t b_layout,
    void* c,
    cublasLtMatrixLayout_t c_layout,
    cudaStream_t stream) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (descriptor == nullptr || c == nullptr || c_layout == nullptr ||
      (a == nullptr && b == nullptr)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const lt::TransformDesc& desc = lt::of(descriptor);
  if ((desc.scale != CUDA_R_32F && desc.scale != CUDA_R_64F &&
       desc.scale != CUDA_R_32I) ||
      (desc.pointer_mode != CUBLASLT_POINTER_MODE_HOST &&
       desc.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: scale type %d with pointer mode %d is not supported\n",
        lt::kTransform,
        static_cast<int>(desc.scale),
        static_cast<int>(desc.pointer_mode));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  lt::Transform call{desc.scale, {}, {}, c, lt::of(c_layout)};
  for (const auto status :
       {lt::check_layout(call.c_layout, desc.scale),
        lt::take(
            desc, call.c_layout, alpha, a, a_layout, desc.operation_a, &call.a),
        lt::take(
            desc,
            call.c_layout,
            beta,
            b,
            b_layout,
            desc.operation_b,
            &call.b)}) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      return status;
    }
  }
  if (!lt::is_reachable(call)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return blas::enqueue(
      lt::kTransform, stream, [call] { lt::run_transform(call); });
}

} // extern "C"
