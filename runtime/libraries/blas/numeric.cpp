#include "runtime/libraries/blas/numeric.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace accelerator::blas {

std::size_t size_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 0;
  }
}

namespace {

template <typename T>
T at(const void* array, std::size_t index) {
  return static_cast<const T*>(array)[index];
}

template <typename T>
void saturate(void* array, std::size_t index, double value) {
  const double low = std::numeric_limits<T>::min();
  const double high = std::numeric_limits<T>::max();
  static_cast<T*>(array)[index] =
      static_cast<T>(std::clamp(std::nearbyint(value), low, high));
}

} // namespace

double load(cudaDataType_t type, const void* array, std::size_t index) {
  switch (type) {
    case CUDA_R_8I:
      return at<std::int8_t>(array, index);
    case CUDA_R_8U:
      return at<std::uint8_t>(array, index);
    case CUDA_R_8F_E4M3:
      return static_cast<float>(at<__nv_fp8_e4m3>(array, index));
    case CUDA_R_8F_E5M2:
      return static_cast<float>(at<__nv_fp8_e5m2>(array, index));
    case CUDA_R_16F:
      return __half2float(at<__half>(array, index));
    case CUDA_R_16BF:
      return __bfloat162float(at<__nv_bfloat16>(array, index));
    case CUDA_R_32I:
      return at<std::int32_t>(array, index);
    case CUDA_R_32F:
      return at<float>(array, index);
    case CUDA_R_64F:
      return at<double>(array, index);
    default:
      return NAN;
  }
}

void store(cudaDataType_t type, void* array, std::size_t index, double value) {
  switch (type) {
    case CUDA_R_8I:
      return saturate<std::int8_t>(array, index, value);
    case CUDA_R_8U:
      return saturate<std::uint8_t>(array, index, value);
    case CUDA_R_8F_E4M3:
      static_cast<__nv_fp8_e4m3*>(array)[index] = __nv_fp8_e4m3(value);
      return;
    case CUDA_R_8F_E5M2:
      static_cast<__nv_fp8_e5m2*>(array)[index] = __nv_fp8_e5m2(value);
      return;
    case CUDA_R_16F:
      static_cast<__half*>(array)[index] = __double2half(value);
      return;
    case CUDA_R_16BF:
      static_cast<__nv_bfloat16*>(array)[index] = __double2bfloat16(value);
      return;
    case CUDA_R_32I:
      return saturate<std::int32_t>(array, index, value);
    case CUDA_R_32F:
      static_cast<float*>(array)[index] = static_cast<float>(value);
      return;
    case CUDA_R_64F:
      static_cast<double*>(array)[index] = value;
      return;
    default:
      return;
  }
}

} // namespace accelerator::blas
