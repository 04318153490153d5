// cublasGemmEx and its strided and batched forms: element types that differ
// from the type of the computation. Source: cuBLAS API, chapter 2.8.
#include <algorithm>
#include <cstring>

#include "accelerator/runtime/blas/handle.h"
#include "accelerator/runtime/blas/host_blas.h"
#include "accelerator/runtime/blas/mixed.h"

namespace accelerator::blas {
namespace {

struct Call {
  const char* function;
  cublasHandle_t handle;
  cublasOperation_t operation_a, operation_b;
  int m, n, k;
  const void* alpha;
  const void* a;
  cudaDataType_t a_type;
  int lda;
  long long stride_a;
  const void* b;
  cudaDataType_t b_type;
  int ldb;
  long long stride_b;
  const void* beta;
  void* c;
  cudaDataType_t c_type;
  int ldc;
  long long stride_c;
  int count;
  cublasComputeType_t compute;
};

const char* advance(const void* base, long long elements, cudaDataType_t type) {
  return static_cast<const char*>(base) + elements * size_of(type);
}

/// alpha or beta: copied now, or read when the work runs.
class AnyScalar {
 public:
  AnyScalar(
      const cublasContext* handle,
      const void* pointer,
      cudaDataType_t type)
      : type_(type),
        pointer_(
            handle->pointer_mode == CUBLAS_POINTER_MODE_HOST ? nullptr
                                                             : pointer) {
    if (pointer_ == nullptr) {
      std::memcpy(value_, pointer, size_of(type));
    }
  }
  double get() const {
    return load(type_, pointer_ != nullptr ? pointer_ : value_, 0);
  }
  /// What the work will read on the device.
  Extent extent() const {
    return {pointer_, pointer_ != nullptr ? size_of(type_) : 0};
  }

 private:
  cudaDataType_t type_;
  const void* pointer_;
  alignas(16) char value_[16] = {};
};

void run_real(const Call& call, int index, double alpha, double beta) {
  const Matrix a{
      advance(call.a, index * call.stride_a, call.a_type),
      call.a_type,
      call.lda};
  const Matrix b{
      advance(call.b, index * call.stride_b, call.b_type),
      call.b_type,
      call.ldb};
  void* c =
      const_cast<char*>(advance(call.c, index * call.stride_c, call.c_type));
  const auto sums = multiply(
      call.compute,
      call.operation_a,
      call.operation_b,
      call.m,
      call.n,
      call.k,
      a,
      b);
  for (std::int64_t j = 0; j < call.n; ++j) {
    for (std::int64_t i = 0; i < call.m; ++i) {
      const std::int64_t at = j * call.ldc + i;
      const double old = beta == 0 ? 0 : beta * load(call.c_type, c, at);
      store(call.c_type, c, at, alpha * sums[j * call.m + i] + old);
    }
  }
}

/// Tells of what is read of all batches.
/// @param reads_factors, @param reads_c whether alpha and beta are not zero.
void tell_reads(const Call& call, bool reads_factors, bool reads_c) {
  const bool a_plain = call.operation_a == CUBLAS_OP_N;
  const bool b_plain = call.operation_b == CUBLAS_OP_N;
  const int k = reads_factors ? call.k : 0;
  const auto all = [&](const void* pointer,
                       int rows,
                       int columns,
                       int leading,
                       long long stride,
                       cudaDataType_t type) {
    const std::size_t size = size_of(type);
    return stream_work::batched_read(
        matrix_read(pointer, rows, columns, leading, size),
        stride,
        size,
        call.count);
  };
  reads(
      {all(call.a,
           a_plain ? call.m : k,
           a_plain ? k : call.m,
           call.lda,
           call.stride_a,
           call.a_type),
       all(call.b,
           b_plain ? k : call.n,
           b_plain ? call.n : k,
           call.ldb,
           call.stride_b,
           call.b_type),
       all(call.c,
           reads_c ? call.m : 0,
           call.n,
           call.ldc,
           call.stride_c,
           call.c_type)});
}

/// All three matrices of one type that the host's BLAS has.
template <typename T>
cublasStatus_t run_uniform(const Call& call) {
  const Scalar<T> alpha(call.handle, call.alpha);
  const Scalar<T> beta(call.handle, call.beta);
  if (!accessible(call.function, {alpha.extent(), beta.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(call.function, call.handle->stream, [call, alpha, beta] {
    reads({alpha.extent(), beta.extent()});
    tell_reads(call, alpha.get() != T{}, beta.get() != T{});
    for (int i = 0; i < call.count; ++i) {
      host::gemm(
          host::transpose(call.operation_a),
          host::transpose(call.operation_b),
          call.m,
          call.n,
          call.k,
          alpha.get(),
          static_cast<const T*>(call.a) + i * call.stride_a,
          call.lda,
          static_cast<const T*>(call.b) + i * call.stride_b,
          call.ldb,
          beta.get(),
          static_cast<T*>(call.c) + i * call.stride_c,
          call.ldc);
    }
  });
}

/// Whether cublasGemmEx is documented for matrices A and B of one type, and C
/// of another, with this type of the computation.
bool is_combination(
    cublasComputeType_t compute,
    cudaDataType_t inputs,
    cudaDataType_t result) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return inputs == CUDA_R_16F && result == CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return inputs == CUDA_R_8I && result == CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return inputs == result && (inputs == CUDA_R_64F || inputs == CUDA_C_64F);
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return inputs == result && (inputs == CUDA_R_32F || inputs == CUDA_C_32F);
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      break;
    default:
      return false;
  }
  switch (inputs) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return result == inputs || result == CUDA_R_32F;
    case CUDA_R_8I:
      return result == CUDA_R_32F;
    case CUDA_R_32F:
    case CUDA_C_32F:
      return result == inputs;
    default:
      return false;
  }
}

cublasStatus_t gemm_ex(const Call& call) {
  if (call.handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const bool a_plain = call.operation_a == CUBLAS_OP_N;
  const bool b_plain = call.operation_b == CUBLAS_OP_N;
  if (!host::known(call.operation_a) || !host::known(call.operation_b) ||
      call.alpha == nullptr || call.beta == nullptr || call.m < 0 ||
      call.n < 0 || call.k < 0 || call.count < 0 ||
      call.lda < std::max(1, a_plain ? call.m : call.k) ||
      call.ldb < std::max(1, b_plain ? call.k : call.n) ||
      call.ldc < std::max(1, call.m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (call.m == 0 || call.n == 0 || call.count == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  if (call.a_type != call.b_type ||
      !is_combination(call.compute, call.a_type, call.c_type)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const std::size_t sizes[] = {
      size_of(call.a_type), size_of(call.b_type), size_of(call.c_type)};
  const std::size_t a_bytes = matrix_bytes(
      a_plain ? call.m : call.k, a_plain ? call.k : call.m, call.lda, sizes[0]);
  const std::size_t b_bytes = matrix_bytes(
      b_plain ? call.k : call.n, b_plain ? call.n : call.k, call.ldb, sizes[1]);
  const std::size_t c_bytes = matrix_bytes(call.m, call.n, call.ldc, sizes[2]);
  if (!accessible(
          call.function,
          {strided_extent(call.a, a_bytes, call.stride_a, sizes[0], call.count),
           strided_extent(call.b, b_bytes, call.stride_b, sizes[1], call.count),
           strided_extent(
               call.c, c_bytes, call.stride_c, sizes[2], call.count)})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  if (call.a_type == call.c_type) {
    switch (call.a_type) {
      case CUDA_R_32F:
        return run_uniform<float>(call);
      case CUDA_R_64F:
        return run_uniform<double>(call);
      case CUDA_C_32F:
        return run_uniform<Complex64>(call);
      case CUDA_C_64F:
        return run_uniform<Complex128>(call);
      default:
        break;
    }
  }
  const auto scale = scale_type(call.compute, call.c_type);
  const AnyScalar alpha(call.handle, call.alpha, scale);
  const AnyScalar beta(call.handle, call.beta, scale);
  if (!accessible(call.function, {alpha.extent(), beta.extent()})) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return enqueue(call.function, call.handle->stream, [call, alpha, beta] {
    reads({alpha.extent(), beta.extent()});
    tell_reads(call, true, beta.get() != 0);
    for (int i = 0; i < call.count; ++i) {
      run_real(call, i, alpha.get(), beta.get());
    }
  });
}

} // namespace
} // namespace accelerator::blas

namespace blas = accelerator::blas;

extern "C" {

// clang-format off
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
    int m, int n, int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
    const void* b, cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type,
    int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
  return blas::gemm_ex({"cublasGemmEx", handle, ta, tb, m, n, k, alpha, a, a_type, lda, 0, b,
      b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta,
    cublasOperation_t tb, int m, int n, int k, const void* alpha, const void* a,
    cudaDataType a_type, int lda, long long sa, const void* b, cudaDataType b_type, int ldb,
    long long sb, const void* beta, void* c, cudaDataType c_type, int ldc, long long sc, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
  return blas::gemm_ex({"cublasGemmStridedBatchedEx", handle, ta, tb, m, n, k, alpha, a, a_type,
      lda, sa, b, b_type, ldb, sb, beta, c, c_type, ldc, sc, count, compute});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
    int m, int n, int k, const float* alpha, const void* a, cudaDataType a_type, int lda,
    const void* b, cudaDataType b_type, int ldb, const float* beta, void* c, cudaDataType c_type,
    int ldc) {
  return blas::gemm_ex({"cublasSgemmEx", handle, ta, tb, m, n, k, alpha, a, a_type, lda, 0, b,
      b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, CUBLAS_COMPUTE_32F});
}

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
    int m, int n, int k, const __half* alpha, const __half* a, int lda, const __half* b, int ldb,
    const __half* beta, __half* c, int ldc) {
  return blas::gemm_ex({"cublasHgemm", handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, 0, b,
      CUDA_R_16F, ldb, 0, beta, c, CUDA_R_16F, ldc, 0, 1, CUBLAS_COMPUTE_16F});
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
    cublasOperation_t tb, int m, int n, int k, const __half* alpha, const __half* a, int lda,
    long long sa, const __half* b, int ldb, long long sb, const __half* beta, __half* c, int ldc,
    long long sc, int count) {
  return blas::gemm_ex({"cublasHgemmStridedBatched", handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F,
      lda, sa, b, CUDA_R_16F, ldb, sb, beta, c, CUDA_R_16F, ldc, sc, count, CUBLAS_COMPUTE_16F});
}
// clang-format on

} // extern "C"
