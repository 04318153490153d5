#include "runtime/libraries/blas/lt/emulation.h"

#include <cstring>

namespace accelerator::blas::lt {
namespace {

constexpr std::size_t kOpaqueBytes = 64;
static_assert(sizeof(EmulationDesc) <= kOpaqueBytes);

constexpr std::int32_t kAllSpecialValues = 0xffff;

/// By cublasLtEmulationDescAttributes_t.
Field find(EmulationDesc& d, int attribute) {
  switch (attribute) {
    case 0:
      return field(d.strategy);
    case 1:
      return field(d.special_values);
    case 2:
      return field(d.mantissa_control);
    case 3:
      return field(d.max_mantissa_bits);
    case 4:
      return field(d.mantissa_bit_offset);
    case 5:
      return field(d.mantissa_bits);
    default:
      return {nullptr, 0};
  }
}

} // namespace

std::int32_t* mantissa_bits_of(const MatmulDesc& desc) {
  const auto* const emulation =
      static_cast<const EmulationDesc*>(desc.emulation);
  return emulation == nullptr ? nullptr : emulation->mantissa_bits;
}

} // namespace accelerator::blas::lt

namespace lt = accelerator::blas::lt;

extern "C" {

cublasStatus_t cublasLtEmulationDescInit_internal(
    lt::EmulationDesc* descriptor,
    std::size_t size) {
  if (descriptor == nullptr || size < sizeof(lt::EmulationDesc)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memset(static_cast<void*>(descriptor), 0, size);
  descriptor->special_values = lt::kAllSpecialValues;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtEmulationDescCreate(lt::EmulationDesc** descriptor) {
  if (descriptor == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *descriptor = new lt::EmulationDesc;
  return cublasLtEmulationDescInit_internal(*descriptor, sizeof(**descriptor));
}

cublasStatus_t cublasLtEmulationDescDestroy(lt::EmulationDesc* descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtEmulationDescSetAttribute(
    lt::EmulationDesc* descriptor,
    int attribute,
    const void* value,
    std::size_t size) {
  return descriptor == nullptr
      ? CUBLAS_STATUS_INVALID_VALUE
      : lt::set(
            __func__, attribute, lt::find(*descriptor, attribute), value, size);
}

cublasStatus_t cublasLtEmulationDescGetAttribute(
    lt::EmulationDesc* descriptor,
    int attribute,
    void* value,
    std::size_t size,
    std::size_t* written) {
  return descriptor == nullptr
      ? CUBLAS_STATUS_INVALID_VALUE
      : lt::get(lt::find(*descriptor, attribute), value, size, written);
}

} // extern "C"
