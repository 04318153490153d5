// A call of cublasLtMatmul, and the memory that it reaches.
#pragma once

#include <cublasLt.h>

#include "runtime/libraries/blas/lt/descriptors.h"
#include "runtime/libraries/blas/lt/epilogue.h"
#include "runtime/libraries/blas/mixed.h"

namespace accelerator::blas::lt {

constexpr const char* kFunction = "cublasLtMatmul";

/// Everything a call says, copied so that the caller's descriptors may go.
struct Call {
  MatmulDesc desc;
  MatrixLayout a, b, c, d;
  const void* a_data;
  const void* b_data;
  const void* c_data;
  void* d_data;
  Epilogue epilogue;
  alignas(16) char alpha[16];
  alignas(16) char beta[16];
  const void* device_alpha; // null: `alpha` holds it
  const void* device_beta;
  std::int32_t* mantissa_bits; // emulation.h

  /// Of a product of real matrices.
  double scalar(const void* on_device, const char* here) const {
    return load(desc.scale, on_device != nullptr ? on_device : here, 0);
  }
};

/// The type of a vector that the descriptor names, or that of D.
inline cudaDataType_t type_or(std::int32_t type, const MatrixLayout& d) {
  return type < 0 ? d.type : static_cast<cudaDataType_t>(type);
}

/// Whether the call reads C, with a beta that is in the device's memory or
/// null.
bool reads_c(const Call& call, const void* device_beta);

/// Whether everything that the call reads and writes is there.
bool reachable(const Call& call);

/// Tells of everything that it reads, in work of a stream.
void tell_reads(const Call& call);

} // namespace accelerator::blas::lt
