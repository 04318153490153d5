#include "runtime/libraries/blas/lt/descriptors.h"

#include <cstdio>
#include <cstring>

#include "runtime/signatures/entry_points.h"

namespace accelerator::blas::lt {
namespace {

static_assert(sizeof(MatmulDesc) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(MatrixLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(
    sizeof(TransformDesc) <= sizeof(cublasLtMatrixTransformDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

// CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR of CUDA 13.
constexpr int kEmulation = 38;

Field find(MatmulDesc& d, cublasLtMatmulDescAttributes_t attribute) {
  if (static_cast<int>(attribute) == kEmulation) {
    return field(d.emulation);
  }
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return field(d.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return field(d.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return field(d.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return field(d.operation_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return field(d.operation_b);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return field(d.operation_c);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return field(d.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return field(d.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return field(d.bias_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return field(d.bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return field(d.auxiliary);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return field(d.auxiliary_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return field(d.auxiliary_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return field(d.auxiliary_type);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return field(d.scale_a);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return field(d.scale_b);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return field(d.scale_c);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return field(d.scale_d);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return field(d.amax_d);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return field(d.fast_accumulation);
    default:
      return {nullptr, 0};
  }
}

Field find(MatrixLayout& l, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return field(l.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return field(l.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return field(l.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return field(l.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return field(l.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return field(l.batch_count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return field(l.batch_stride);
    default:
      return {nullptr, 0};
  }
}

Field find(
    TransformDesc& d,
    cublasLtMatrixTransformDescAttributes_t attribute) {
  switch (attribute) {
    case CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE:
      return field(d.scale);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE:
      return field(d.pointer_mode);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA:
      return field(d.operation_a);
    case CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB:
      return field(d.operation_b);
    default:
      return {nullptr, 0};
  }
}

} // namespace

cublasStatus_t set(
    const char* function,
    int attribute,
    Field field,
    const void* value,
    std::size_t size) {
  if (field.data == nullptr) {
    std::fprintf(
        stderr,
        "torch_cuda: %s: attribute %d is not supported\n",
        function,
        attribute);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (value == nullptr || size != field.size) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(field.data, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t get(
    Field field,
    void* value,
    std::size_t size,
    std::size_t* written) {
  if (field.data == nullptr) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (written != nullptr) {
    *written = field.size;
  }
  if (size == 0 && written != nullptr) {
    return CUBLAS_STATUS_SUCCESS; // only the size was asked for
  }
  if (value == nullptr || size != field.size) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(value, field.data, field.size);
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

/// Makes a descriptor, for `kInit` to fill.
template <auto kInit, typename Opaque, typename... Arguments>
cublasStatus_t create(const char*, Opaque** made, Arguments... arguments) {
  if (made == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *made = new Opaque;
  return kInit(*made, sizeof(Opaque), arguments...);
}

template <typename Opaque>
cublasStatus_t destroy(const char*, Opaque* descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Opaque, typename Attribute>
cublasStatus_t set_attribute(
    const char* function,
    Opaque* descriptor,
    Attribute attribute,
    const void* value,
    std::size_t size) {
  return descriptor == nullptr
      ? CUBLAS_STATUS_INVALID_VALUE
      : set(function, attribute, find(of(descriptor), attribute), value, size);
}

template <typename Opaque, typename Attribute>
cublasStatus_t get_attribute(
    const char*,
    Opaque* descriptor,
    Attribute attribute,
    void* value,
    std::size_t size,
    std::size_t* written) {
  return descriptor == nullptr
      ? CUBLAS_STATUS_INVALID_VALUE
      : get(find(of(descriptor), attribute), value, size, written);
}

} // namespace
} // namespace accelerator::blas::lt

namespace lt = accelerator::blas::lt;

extern "C" {

cublasStatus_t cublasLtMatmulDescInit_internal(
    cublasLtMatmulDesc_t descriptor,
    std::size_t size,
    cublasComputeType_t compute,
    cudaDataType_t scale) {
  if (descriptor == nullptr || size < sizeof(lt::MatmulDesc)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memset(static_cast<void*>(descriptor), 0, size);
  lt::MatmulDesc& d = lt::of(descriptor);
  d.compute = compute;
  d.scale = scale;
  d.pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  d.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  d.bias_type = -1;
  d.auxiliary_type = -1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(
    cublasLtMatrixLayout_t layout,
    std::size_t size,
    cudaDataType_t type,
    std::uint64_t rows,
    std::uint64_t columns,
    std::int64_t leading) {
  if (layout == nullptr || size < sizeof(lt::MatrixLayout)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memset(static_cast<void*>(layout), 0, size);
  lt::of(layout) = {type, CUBLASLT_ORDER_COL, rows, columns, leading, 1, 0};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixTransformDescInit_internal(
    cublasLtMatrixTransformDesc_t descriptor,
    std::size_t size,
    cudaDataType scale) {
  if (descriptor == nullptr || size < sizeof(lt::TransformDesc)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memset(static_cast<void*>(descriptor), 0, size);
  lt::of(descriptor) = {
      scale, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(
    cublasLtMatmulPreference_t preference,
    std::size_t size) {
  if (preference == nullptr || size < sizeof(lt::Preference)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memset(static_cast<void*>(preference), 0, size);
  return CUBLAS_STATUS_SUCCESS;
}

// Preferences choose between NVIDIA's kernels; here there is one way to
// multiply, so that none of them has an effect.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute,
    const void* value,
    std::size_t size) {
  if (preference == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::uint64_t unused = 0;
  lt::Preference& p = lt::of(preference);
  lt::Field field{&unused, sizeof(std::uint32_t)};
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      field = lt::field(p.workspace_bytes);
      break;
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
      field = lt::field(p.search_mode);
      break;
    case CUBLASLT_MATMUL_PREF_IMPL_MASK:
      field.size = sizeof(std::uint64_t);
      break;
    default: // masks, alignments and a number of waves
      break;
  }
  return lt::set(
      "cublasLtMatmulPreferenceSetAttribute", attribute, field, value, size);
}

} // extern "C"

ENTRY_POINT(
    3,
    cublasLtMatmulDescCreate,
    lt::create<cublasLtMatmulDescInit_internal>)
ENTRY_POINT(1, cublasLtMatmulDescDestroy, lt::destroy)
ENTRY_POINT(4, cublasLtMatmulDescSetAttribute, lt::set_attribute)
ENTRY_POINT(5, cublasLtMatmulDescGetAttribute, lt::get_attribute)

ENTRY_POINT(
    5,
    cublasLtMatrixLayoutCreate,
    lt::create<cublasLtMatrixLayoutInit_internal>)
ENTRY_POINT(1, cublasLtMatrixLayoutDestroy, lt::destroy)
ENTRY_POINT(4, cublasLtMatrixLayoutSetAttribute, lt::set_attribute)
ENTRY_POINT(5, cublasLtMatrixLayoutGetAttribute, lt::get_attribute)

ENTRY_POINT(
    2,
    cublasLtMatrixTransformDescCreate,
    lt::create<cublasLtMatrixTransformDescInit_internal>)
ENTRY_POINT(1, cublasLtMatrixTransformDescDestroy, lt::destroy)
ENTRY_POINT(4, cublasLtMatrixTransformDescSetAttribute, lt::set_attribute)
ENTRY_POINT(5, cublasLtMatrixTransformDescGetAttribute, lt::get_attribute)

ENTRY_POINT(
    1,
    cublasLtMatmulPreferenceCreate,
    lt::create<cublasLtMatmulPreferenceInit_internal>)
ENTRY_POINT(1, cublasLtMatmulPreferenceDestroy, lt::destroy)
