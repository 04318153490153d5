// cublasGemmEx and its strided, batched and grouped forms: element types that
// differ from the type of the computation. Source: cuBLAS API, chapter 2.8.
#include <algorithm>

#include "runtime/libraries/blas/gemm/call.h"
#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/mixed.h"

namespace accelerator::blas {
namespace {

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
void run_uniform(const Call& call, T alpha, T beta) {
  tell_reads(call, alpha != T{}, beta != T{});
  for (int i = 0; i < call.count; ++i) {
    host::gemm(
        host::transpose(call.operation_a),
        host::transpose(call.operation_b),
        call.m,
        call.n,
        call.k,
        alpha,
        static_cast<const T*>(call.a) + i * call.stride_a,
        call.lda,
        static_cast<const T*>(call.b) + i * call.stride_b,
        call.ldb,
        beta,
        static_cast<T*>(call.c) + i * call.stride_c,
        call.ldc);
  }
}

/// Whether nothing is to be computed.
bool is_empty(const Call& call) {
  return call.m == 0 || call.n == 0 || call.count == 0;
}

/// The computation that an emulated one (of CUDA 13) stands for: products of
/// float or double, which are made as such.
cublasComputeType_t plain(cublasComputeType_t compute) {
  constexpr int kFloat = 78; // CUBLAS_COMPUTE_32F_EMULATED_16BFX9
  constexpr int kDouble = 79; // CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT
  const int number = compute;
  return number == kFloat ? CUBLAS_COMPUTE_32F_FAST_TF32
      : number == kDouble ? CUBLAS_COMPUTE_64F
                          : compute;
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

/// Whether the call makes sense, and is one that cuBLAS has.
cublasStatus_t check(const Call& call) {
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
  const bool is_known = call.a_type == call.b_type &&
      is_combination(call.compute, call.a_type, call.c_type);
  return is_known || is_empty(call) ? CUBLAS_STATUS_SUCCESS
                                    : CUBLAS_STATUS_NOT_SUPPORTED;
}

/// Whether the device may touch a call's matrices.
bool are_accessible(const Call& call) {
  const bool a_plain = call.operation_a == CUBLAS_OP_N;
  const bool b_plain = call.operation_b == CUBLAS_OP_N;
  const std::size_t sizes[] = {
      size_of(call.a_type), size_of(call.b_type), size_of(call.c_type)};
  const std::size_t a_bytes = matrix_bytes(
      a_plain ? call.m : call.k, a_plain ? call.k : call.m, call.lda, sizes[0]);
  const std::size_t b_bytes = matrix_bytes(
      b_plain ? call.k : call.n, b_plain ? call.n : call.k, call.ldb, sizes[1]);
  const std::size_t c_bytes = matrix_bytes(call.m, call.n, call.ldc, sizes[2]);
  return accessible(
      call.function,
      {strided_extent(call.a, a_bytes, call.stride_a, sizes[0], call.count),
       strided_extent(call.b, b_bytes, call.stride_b, sizes[1], call.count),
       strided_extent(call.c, c_bytes, call.stride_c, sizes[2], call.count)});
}

/// Hands the work of a call on as `put(extents of alpha and beta, work)`, where
/// the work takes the call with its matrices.
template <typename Put>
cublasStatus_t with_work(const Call& call, Put put) {
  if (call.a_type == call.c_type) {
    const auto uniform = [&](auto number) {
      using T = decltype(number);
      const Scalar<T> alpha(call.handle, call.alpha);
      const Scalar<T> beta(call.handle, call.beta);
      return put(alpha.extent(), beta.extent(), [alpha, beta](const Call& its) {
        run_uniform<T>(its, alpha.get(), beta.get());
      });
    };
    switch (call.a_type) {
      case CUDA_R_32F:
        return uniform(float{});
      case CUDA_R_64F:
        return uniform(double{});
      case CUDA_C_32F:
        return uniform(Complex64{});
      case CUDA_C_64F:
        return uniform(Complex128{});
      default:
        break;
    }
  }
  const auto scale = scale_type(call.compute, call.c_type);
  const AnyScalar alpha(call.handle, call.alpha, scale);
  const AnyScalar beta(call.handle, call.beta, scale);
  return put(alpha.extent(), beta.extent(), [alpha, beta](const Call& its) {
    tell_reads(its, true, beta.get() != 0);
    for (int i = 0; i < its.count; ++i) {
      run_real(its, i, alpha.get(), beta.get());
    }
  });
}

cublasStatus_t gemm_ex(const Call& call) {
  const cublasStatus_t status = check(call);
  if (status != CUBLAS_STATUS_SUCCESS || is_empty(call)) {
    return status;
  }
  if (!are_accessible(call)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return with_work(call, [&](Extent alpha, Extent beta, auto work) {
    if (!accessible(call.function, {alpha, beta})) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    return enqueue(call.function, call.handle->stream, [=] {
      reads({alpha, beta});
      work(call);
    });
  });
}

/// The matrices of a batch, by arrays of their addresses on the device.
struct Pointers {
  const void* const* a;
  const void* const* b;
  void* const* c;
};

/// The products of `call`, which has no matrices of its own.
cublasStatus_t gemm_ex(const Call& call, const Pointers& matrices) {
  const cublasStatus_t status = check(call);
  if (status != CUBLAS_STATUS_SUCCESS || is_empty(call)) {
    return status;
  }
  const std::size_t bytes = call.count * sizeof(void*);
  return with_work(call, [&](Extent alpha, Extent beta, auto work) {
    const Read arrays[] = {
        {matrices.a, bytes}, {matrices.b, bytes}, {matrices.c, bytes}};
    if (!accessible(
            call.function,
            {{matrices.a, bytes},
             {matrices.b, bytes},
             {matrices.c, bytes},
             alpha,
             beta})) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    return enqueue_checked(call.function, call.handle->stream, [=] {
      reads({alpha, beta, arrays[0], arrays[1], arrays[2]});
      for (int i = 0; i < call.count; ++i) {
        Call one = call;
        one.a = matrices.a[i];
        one.b = matrices.b[i];
        one.c = matrices.c[i];
        one.count = 1;
        if (!are_accessible(one)) {
          return false;
        }
        work(one);
      }
      return true;
    });
  });
}

/// Batches of several sizes, one after the other. What describes them is the
/// host's; the addresses of the matrices are the device's.
struct Groups {
  const cublasOperation_t* operation_a;
  const cublasOperation_t* operation_b;
  const int* m;
  const int* n;
  const int* k;
  const void* alpha;
  const int* lda;
  const int* ldb;
  const void* beta;
  const int* ldc;
  int count;
  const int* size;
};

cublasStatus_t gemm_groups(
    const char* function,
    cublasHandle_t handle,
    const Groups& groups,
    const Pointers& matrices,
    cudaDataType_t a_type,
    cudaDataType_t b_type,
    cudaDataType_t c_type,
    cublasComputeType_t compute) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (handle->pointer_mode != CUBLAS_POINTER_MODE_HOST) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (groups.count < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (groups.count == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  for (const void* array :
       {static_cast<const void*>(groups.operation_a),
        static_cast<const void*>(groups.operation_b),
        static_cast<const void*>(groups.m),
        static_cast<const void*>(groups.n),
        static_cast<const void*>(groups.k),
        groups.alpha,
        static_cast<const void*>(groups.lda),
        static_cast<const void*>(groups.ldb),
        groups.beta,
        static_cast<const void*>(groups.ldc),
        static_cast<const void*>(groups.size)}) {
    if (array == nullptr) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  const cudaDataType_t scale = scale_type(compute, c_type);
  const auto call_of = [&](int i) {
    return Call{
        function,
        handle,
        groups.operation_a[i],
        groups.operation_b[i],
        groups.m[i],
        groups.n[i],
        groups.k[i],
        advance(groups.alpha, i, scale),
        nullptr,
        a_type,
        groups.lda[i],
        0,
        nullptr,
        b_type,
        groups.ldb[i],
        0,
        advance(groups.beta, i, scale),
        nullptr,
        c_type,
        groups.ldc[i],
        0,
        groups.size[i],
        compute};
  };
  // All or none.
  for (int i = 0; i < groups.count; ++i) {
    const cublasStatus_t status = check(call_of(i));
    if (status != CUBLAS_STATUS_SUCCESS) {
      return status;
    }
  }
  Pointers its = matrices;
  for (int i = 0; i < groups.count; ++i) {
    const cublasStatus_t status = gemm_ex(call_of(i), its);
    if (status != CUBLAS_STATUS_SUCCESS) {
      return status;
    }
    its.a += groups.size[i];
    its.b += groups.size[i];
    its.c += groups.size[i];
  }
  return CUBLAS_STATUS_SUCCESS;
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
      b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, blas::plain(compute)});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta,
    cublasOperation_t tb, int m, int n, int k, const void* alpha, const void* a,
    cudaDataType a_type, int lda, long long sa, const void* b, cudaDataType b_type, int ldb,
    long long sb, const void* beta, void* c, cudaDataType c_type, int ldc, long long sc, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
  return blas::gemm_ex({"cublasGemmStridedBatchedEx", handle, ta, tb, m, n, k, alpha, a, a_type,
      lda, sa, b, b_type, ldb, sb, beta, c, c_type, ldc, sc, count, blas::plain(compute)});
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

cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t ta,
    cublasOperation_t tb, int m, int n, int k, const __half* alpha, const __half* const a[],
    int lda, const __half* const b[], int ldb, const __half* beta, __half* const c[], int ldc,
    int count) {
  return blas::gemm_ex({"cublasHgemmBatched", handle, ta, tb, m, n, k, alpha, nullptr, CUDA_R_16F,
      lda, 0, nullptr, CUDA_R_16F, ldb, 0, beta, nullptr, CUDA_R_16F, ldc, 0, count,
      CUBLAS_COMPUTE_16F}, {(const void* const*)a, (const void* const*)b, (void* const*)c});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t ta,
    cublasOperation_t tb, int m, int n, int k, const void* alpha, const void* const a[],
    cudaDataType a_type, int lda, const void* const b[], cudaDataType b_type, int ldb,
    const void* beta, void* const c[], cudaDataType c_type, int ldc, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
  return blas::gemm_ex({"cublasGemmBatchedEx", handle, ta, tb, m, n, k, alpha, nullptr, a_type,
      lda, 0, nullptr, b_type, ldb, 0, beta, nullptr, c_type, ldc, 0, count, blas::plain(compute)}, {a, b, c});
}

cublasStatus_t cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t ta[],
    const cublasOperation_t tb[], const int m[], const int n[], const int k[], const void* alpha,
    const void* const a[], cudaDataType_t a_type, const int lda[], const void* const b[],
    cudaDataType_t b_type, const int ldb[], const void* beta, void* const c[],
    cudaDataType_t c_type, const int ldc[], int groups, const int size[],
    cublasComputeType_t compute) {
  return blas::gemm_groups("cublasGemmGroupedBatchedEx", handle,
      {ta, tb, m, n, k, alpha, lda, ldb, beta, ldc, groups, size}, {a, b, c}, a_type, b_type,
      c_type, blas::plain(compute));
}

#define ACCEL_GROUPED(letter, type, number, compute)                                             \
  cublasStatus_t cublas##letter##gemmGroupedBatched(cublasHandle_t handle,                       \
      const cublasOperation_t ta[], const cublasOperation_t tb[], const int m[], const int n[],  \
      const int k[], const type alpha[], const type* const a[], const int lda[],                 \
      const type* const b[], const int ldb[], const type beta[], type* const c[],                \
      const int ldc[], int groups, const int size[]) {                                           \
    return blas::gemm_groups("cublas" #letter "gemmGroupedBatched", handle,                      \
        {ta, tb, m, n, k, alpha, lda, ldb, beta, ldc, groups, size},                             \
        {(const void* const*)a, (const void* const*)b, (void* const*)c}, number, number, number, \
        compute);                                                                                \
  }
ACCEL_GROUPED(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
ACCEL_GROUPED(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
#undef ACCEL_GROUPED

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
    cublasOperation_t tb, int m, int n, int k, const __half* alpha, const __half* a, int lda,
    long long sa, const __half* b, int ldb, long long sb, const __half* beta, __half* c, int ldc,
    long long sc, int count) {
  return blas::gemm_ex({"cublasHgemmStridedBatched", handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F,
      lda, sa, b, CUDA_R_16F, ldb, sb, beta, c, CUDA_R_16F, ldc, sc, count, CUBLAS_COMPUTE_16F});
}
// clang-format on

} // extern "C"
