// cublasLtMatmul on the host's BLAS. Source: cuBLAS API, chapter 3.4.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/lt/algorithms.h"
#include "runtime/libraries/blas/lt/call.h"
#include "runtime/libraries/blas/lt/complex_product.h"
#include "runtime/libraries/blas/lt/descriptors.h"
#include "runtime/libraries/blas/lt/emulation.h"
#include "runtime/libraries/blas/lt/epilogue.h"
#include "runtime/libraries/blas/lt/layout.h"
#include "runtime/libraries/blas/mixed.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas::lt {
namespace {

/// A matrix in tiles by columns, as the host's BLAS has it.
std::vector<char> untiled(const MatrixLayout& layout, const char* data) {
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  const auto size = static_cast<std::int64_t>(size_of(layout.type));
  std::vector<char> result(rows * columns * size);
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(
          data + place_of(layout, row, column) * size,
          size,
          result.begin() + (column * rows + row) * size);
    }
  }
  return result;
}

/// An operand of the product.
/// @param room for one that was in tiles.
Matrix operand_of(
    const MatrixLayout& layout,
    const char* data,
    std::vector<char>* room) {
  if (has_plain_order(layout)) {
    return {
        data, layout.type, layout.leading, layout.order == CUBLASLT_ORDER_ROW};
  }
  *room = untiled(layout, data);
  return {
      room->data(),
      layout.type,
      std::max<std::int64_t>(1, static_cast<std::int64_t>(layout.rows)),
      false};
}

/// A product of real matrices, with every feature.
void run(const Call& call) {
  tell_reads(call);
  const MatmulDesc& desc = call.desc;
  const auto m = static_cast<std::int64_t>(call.d.rows);
  const auto n = static_cast<std::int64_t>(call.d.columns);
  const auto k = static_cast<std::int64_t>(
      desc.operation_a == CUBLAS_OP_N ? call.a.columns : call.a.rows);
  const auto scale_of = [](const float* scale) {
    return scale == nullptr ? 1.0 : static_cast<double>(*scale);
  };
  const double alpha = call.scalar(call.device_alpha, call.alpha) *
      scale_of(desc.scale_a) * scale_of(desc.scale_b);
  const double beta =
      call.scalar(call.device_beta, call.beta) * scale_of(desc.scale_c);
  const auto bias_type = type_or(desc.bias_type, call.d);
  const auto auxiliary_type = type_or(desc.auxiliary_type, call.d);
  double amax = 0;
  for (int i = 0; i < call.d.batch_count; ++i) {
    std::vector<char> a_room, b_room;
    const Matrix a =
        operand_of(call.a, batch_of(call.a_data, call.a, i), &a_room);
    const Matrix b =
        operand_of(call.b, batch_of(call.b_data, call.b, i), &b_room);
    const auto sums = multiply(
        desc.compute, desc.operation_a, desc.operation_b, m, n, k, a, b);
    const char* c = batch_of(call.c_data, call.c, i);
    char* d = const_cast<char*>(batch_of(call.d_data, call.d, i));
    const auto* bias = static_cast<const char*>(desc.bias) +
        i * desc.bias_stride * static_cast<std::int64_t>(size_of(bias_type));
    std::vector<double> bias_gradient(m);
    for (std::int64_t column = 0; column < n; ++column) {
      for (std::int64_t row = 0; row < m; ++row) {
        double value = alpha * sums[column * m + row];
        if (beta != 0) {
          value += beta * load(call.c.type, c, place_of(call.c, row, column));
        }
        if (call.epilogue.bias) {
          value += load(bias_type, bias, row);
        }
        const bool relu =
            call.epilogue.activation == Epilogue::Activation::kRelu;
        if (call.epilogue.keep_input || call.epilogue.backward) {
          // ReLU keeps one bit for each element, GELU the element itself.
          const std::int64_t at =
              i * desc.auxiliary_stride + column * desc.auxiliary_leading + row;
          auto* bits = static_cast<std::uint8_t*>(desc.auxiliary) + at / 8;
          const auto bit = static_cast<std::uint8_t>(1u << (at % 8));
          if (call.epilogue.backward) {
            value *= relu
                ? ((*bits & bit) != 0 ? 1.0 : 0.0)
                : gelu_derivative(load(auxiliary_type, desc.auxiliary, at));
          } else if (relu) {
            *bits = static_cast<std::uint8_t>(
                value > 0 ? *bits | bit : *bits & ~bit);
          } else {
            store(auxiliary_type, desc.auxiliary, at, value);
          }
        }
        if (!call.epilogue.backward) {
          value = activate(call.epilogue.activation, value);
        }
        bias_gradient[row] += value;
        amax = std::max(amax, std::abs(value));
        store(
            call.d.type,
            d,
            place_of(call.d, row, column),
            value * scale_of(desc.scale_d));
      }
    }
    if (call.epilogue.bias_gradient) {
      for (std::int64_t row = 0; row < m; ++row) {
        store(bias_type, const_cast<char*>(bias), row, bias_gradient[row]);
      }
    }
  }
  if (desc.amax_d != nullptr) {
    *desc.amax_d = static_cast<float>(amax);
  }
}

/// Whether none of the descriptors that a call names is missing.
bool all_given(
    cublasLtMatmulDesc_t descriptor,
    std::initializer_list<cublasLtMatrixLayout_t> layouts) {
  return descriptor != nullptr &&
      std::find(layouts.begin(), layouts.end(), nullptr) == layouts.end();
}

/// Whether `count` lines of `length` elements do not overlap.
bool lie_apart(
    std::uint64_t length,
    std::uint64_t count,
    std::int64_t leading) {
  return leading >= 0 &&
      (count <= 1 || static_cast<std::uint64_t>(leading) >= length);
}

/// Tiles are for products of 8-bit integers, as NVIDIA documents them: A, C and
/// D in one order, B transposed in another.
bool are_good_tiles(
    const MatmulDesc& desc,
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d) {
  const bool are_plain = has_plain_order(a) && has_plain_order(b) &&
      has_plain_order(c) && has_plain_order(d);
  return are_plain ||
      (a.type == CUDA_R_8I && b.type == CUDA_R_8I &&
       desc.compute == CUBLAS_COMPUTE_32I && desc.operation_a == CUBLAS_OP_N &&
       desc.operation_b != CUBLAS_OP_N && a.order == CUBLASLT_ORDER_COL32 &&
       c.order == CUBLASLT_ORDER_COL32 && d.order == CUBLASLT_ORDER_COL32 &&
       (b.order == CUBLASLT_ORDER_COL4_4R2_8C ||
        b.order == CUBLASLT_ORDER_COL32_2R_4R4));
}

/// Whether there are such operations, and the matrices fit one another and the
/// host's BLAS.
cublasStatus_t check_sizes(
    const MatmulDesc& desc,
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d,
    const Epilogue& epilogue) {
  if (!host::known(desc.operation_a) || !host::known(desc.operation_b) ||
      !host::known(desc.operation_c)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool a_plain = desc.operation_a == CUBLAS_OP_N;
  const bool b_plain = desc.operation_b == CUBLAS_OP_N;
  const auto m = a_plain ? a.rows : a.columns;
  const auto k = a_plain ? a.columns : a.rows;
  const auto n = b_plain ? b.columns : b.rows;
  if (k != (b_plain ? b.rows : b.columns) || d.rows != m || d.columns != n ||
      c.rows != m || c.columns != n || a.batch_count != d.batch_count ||
      b.batch_count != d.batch_count || desc.auxiliary_leading < 0 ||
      desc.auxiliary_stride < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const MatrixLayout* layout : {&a, &b, &c, &d}) {
    if (!lies_apart(*layout) || layout->batch_count < 0) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  if ((epilogue.keep_input || epilogue.backward) &&
      !lie_apart(m, n, desc.auxiliary_leading)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // "Currently only CUBLAS_OP_N is supported", says cuBLASLt's header of C.
  if (desc.operation_c != CUBLAS_OP_N) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: operation %d on C is not supported\n",
        kFunction,
        static_cast<int>(desc.operation_c));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // The host's BLAS counts in int, as NVIDIA's does in spite of the types.
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  const std::uint64_t largest = std::max({m, n, k});
  if (largest > kMost) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: a matrix with %llu rows or columns is not supported\n",
        kFunction,
        static_cast<unsigned long long>(largest));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Whether this library can compute the product; says on stderr what it lacks.
cublasStatus_t check(
    const MatmulDesc& desc,
    const MatrixLayout& a,
    const MatrixLayout& b,
    const MatrixLayout& c,
    const MatrixLayout& d,
    Epilogue* epilogue) {
  if (is_complex_product(a, b, c, d) || is_complex(desc.scale)) {
    if (!can_multiply(desc, a, b, c, d)) {
      std::fprintf(
          stderr,
          "torch_cuda: %s: complex matrices are supported when all and alpha "
          "and beta are of one type, without an epilogue\n",
          kFunction);
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    *epilogue = {};
    return check_sizes(desc, a, b, c, d, *epilogue);
  }
  for (const MatrixLayout* layout : {&a, &b, &c, &d}) {
    if (size_of(layout->type) == 0 || !has_known_order(*layout)) {
      std::fprintf(
          stderr,
          "torch_cuda: %s: data type %d in order %d is not supported\n",
          kFunction,
          static_cast<int>(layout->type),
          static_cast<int>(layout->order));
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }
  if (!are_good_tiles(desc, a, b, c, d)) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: orders %d, %d, %d and %d of A, B, C and D are not "
        "supported together\n",
        kFunction,
        static_cast<int>(a.order),
        static_cast<int>(b.order),
        static_cast<int>(c.order),
        static_cast<int>(d.order));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (!parse(desc.epilogue, epilogue)) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: epilogue %d is not supported\n",
        kFunction,
        static_cast<int>(desc.epilogue));
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (const auto status = check_sizes(desc, a, b, c, d, *epilogue);
      status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  const bool vectors = epilogue->bias || epilogue->bias_gradient;
  const bool auxiliary = epilogue->keep_input || epilogue->backward;
  if ((vectors && size_of(type_or(desc.bias_type, d)) == 0) ||
      (auxiliary && size_of(type_or(desc.auxiliary_type, d)) == 0)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace
} // namespace accelerator::blas::lt

namespace blas = accelerator::blas;
namespace lt = accelerator::blas::lt;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  // Calls say themselves what they need; the handle only has to be unique.
  *handle = reinterpret_cast<cublasLtHandle_t>(new int(device));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

/// There is one algorithm, which needs no workspace.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t,
    cublasLtMatmulDesc_t descriptor,
    cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t,
    int requested,
    cublasLtMatmulHeuristicResult_t results[],
    int* returned) {
  if (returned == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *returned = 0;
  if (requested < 1 || results == nullptr ||
      !lt::all_given(descriptor, {a, b, c, d})) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  lt::Epilogue epilogue;
  const auto status = lt::check(
      lt::of(descriptor),
      lt::of(a),
      lt::of(b),
      lt::of(c),
      lt::of(d),
      &epilogue);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  std::memset(static_cast<void*>(results), 0, sizeof(results[0]));
  lt::make(&results[0].algo);
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t handle,
    cublasLtMatmulDesc_t descriptor,
    cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d,
    const cublasLtMatmulAlgo_t* algorithm,
    cublasLtMatmulHeuristicResult_t* result) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!lt::is_made(algorithm) || result == nullptr ||
      !lt::all_given(descriptor, {a, b, c, d})) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  lt::Epilogue epilogue;
  const auto status = lt::check(
      lt::of(descriptor),
      lt::of(a),
      lt::of(b),
      lt::of(c),
      lt::of(d),
      &epilogue);
  const cublasLtMatmulAlgo_t copy = *algorithm;
  *result = {};
  result->algo = copy;
  result->state = status;
  result->wavesCount = 1;
  return status;
}

cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t,
    cublasLtMatmulDesc_t descriptor,
    const void* alpha,
    const void* a,
    cublasLtMatrixLayout_t a_layout,
    const void* b,
    cublasLtMatrixLayout_t b_layout,
    const void* beta,
    const void* c,
    cublasLtMatrixLayout_t c_layout,
    void* d,
    cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t*,
    void*,
    std::size_t,
    cudaStream_t stream) {
  if (!lt::all_given(descriptor, {a_layout, b_layout, c_layout, d_layout})) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  lt::Call call{
      lt::of(descriptor),
      lt::of(a_layout),
      lt::of(b_layout),
      lt::of(c_layout),
      lt::of(d_layout),
      a,
      b,
      c,
      d,
      {},
      {},
      {},
      nullptr,
      nullptr,
      nullptr};
  call.mantissa_bits = lt::mantissa_bits_of(call.desc);
  const auto status =
      lt::check(call.desc, call.a, call.b, call.c, call.d, &call.epilogue);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  const std::size_t scalar = blas::size_of(call.desc.scale);
  if (scalar == 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  switch (call.desc.pointer_mode) {
    case CUBLASLT_POINTER_MODE_HOST:
      std::memcpy(call.alpha, alpha, scalar);
      std::memcpy(call.beta, beta, scalar);
      break;
    case CUBLASLT_POINTER_MODE_DEVICE:
      call.device_alpha = alpha;
      call.device_beta = beta;
      break;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (!lt::reachable(call)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return blas::enqueue(lt::kFunction, stream, [call] {
    blas::is_complex(call.d.type) ? lt::run_complex(call) : lt::run(call);
    if (call.mantissa_bits != nullptr) {
      *call.mantissa_bits = -1; // nothing was emulated
    }
  });
}

} // extern "C"
