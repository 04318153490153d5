// Found by calling the operators of PyTorch's table of samples on a GPU
// (tools/gpu/accepted_types.py), and by that table's types for CUDA.
#include "accelerator/operators/calls/lacked_types.h"

#include "accelerator/operators/calls/name_pattern.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace torch_cuda::operators {
namespace {

using c10::ScalarType;

constexpr unsigned kByte = 1;
constexpr unsigned kOtherIntegers = 2;
constexpr unsigned kIntegers = kByte | kOtherIntegers;
constexpr unsigned kHalf = 4; // float16 and bfloat16
constexpr unsigned kComplexHalf = 8;

unsigned kind_of(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return kByte;
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return kHalf;
    case ScalarType::ComplexHalf:
      return kComplexHalf;
    default:
      return c10::isIntegralType(type, false) ? kOtherIntegers : 0;
  }
}

struct Row {
  std::string_view name; // a pattern, see is_named
  unsigned types;
};

constexpr Row kRows[] = {
    {"mm", kIntegers | kComplexHalf},
    {"addmm", kIntegers | kComplexHalf},
    {"addmm_", kIntegers | kComplexHalf},
    {"mv", kIntegers | kComplexHalf},
    {"addmv", kIntegers | kComplexHalf},
    {"addmv_", kIntegers | kComplexHalf},
    {"bmm", kIntegers | kComplexHalf},
    {"baddbmm", kIntegers | kComplexHalf},
    {"baddbmm_", kIntegers | kComplexHalf},
    {"addbmm", kIntegers | kComplexHalf},
    {"addbmm_", kIntegers | kComplexHalf},
    {"dot", kIntegers | kComplexHalf},
    {"vdot", kIntegers | kComplexHalf},
    {"convolution", kIntegers},
    {"_convolution", kIntegers},
    {"avg_pool2d", kIntegers},
    {"avg_pool3d", kIntegers},
    {"max_pool2d_with_indices", kIntegers},
    {"max_pool3d_with_indices", kIntegers},
    {"upsample_bilinear2d", kByte},
    {"upsample_bicubic2d", kByte},
    {"_upsample_bilinear2d_aa", kByte},
    {"_upsample_bicubic2d_aa", kByte},
    {"histc", kHalf},
    {"_cdist_forward", kHalf},
    {"_ctc_loss", kHalf},
    {"igamma", kHalf},
    {"igamma_", kHalf},
    {"igammac", kHalf},
    {"igammac_", kHalf},
    {"special_airy_ai", kHalf},
    {"special_bessel_*", kHalf},
    {"special_chebyshev_*", kHalf},
    {"special_erfcx", kHalf},
    {"special_hermite_*", kHalf},
    {"special_laguerre_*", kHalf},
    {"special_legendre_*", kHalf},
    {"special_log_ndtr", kHalf},
    {"special_modified_*", kHalf},
    {"special_ndtri", kHalf},
    {"special_scaled_*", kHalf},
    {"special_shifted_*", kHalf},
    {"special_spherical_*", kHalf},
    {"special_zeta", kHalf},
    // Of LAPACK.
    {"cholesky", kHalf | kComplexHalf},
    {"cholesky_inverse", kHalf | kComplexHalf},
    {"cholesky_solve", kHalf | kComplexHalf},
    {"geqrf", kHalf | kComplexHalf},
    {"linalg_cholesky_ex", kHalf | kComplexHalf},
    {"linalg_eig", kHalf | kComplexHalf},
    {"linalg_eigvals", kHalf | kComplexHalf},
    {"linalg_householder_product", kHalf | kComplexHalf},
    {"linalg_inv_ex", kHalf | kComplexHalf},
    {"linalg_ldl_*", kHalf | kComplexHalf},
    {"linalg_lstsq", kHalf | kComplexHalf},
    {"linalg_lu*", kHalf | kComplexHalf},
    {"linalg_qr", kHalf | kComplexHalf},
    {"linalg_solve_triangular", kHalf | kComplexHalf},
    {"_linalg_det", kHalf | kComplexHalf},
    {"_linalg_eigh", kHalf | kComplexHalf},
    {"_linalg_eigvals", kHalf | kComplexHalf},
    {"_linalg_slogdet", kHalf | kComplexHalf},
    {"_linalg_solve_ex", kHalf | kComplexHalf},
    {"_linalg_svd", kHalf | kComplexHalf},
    {"ormqr", kHalf | kComplexHalf},
    {"triangular_solve", kHalf | kComplexHalf},
};

} // namespace

LackedTypes::LackedTypes(const c10::OperatorName& name) {
  constexpr std::string_view kNamespace = "aten::";
  const std::string_view whole = name.name;
  if (whole.substr(0, kNamespace.size()) != kNamespace) {
    return;
  }
  const auto* row = std::find_if(
      std::begin(kRows), std::end(kRows), [&](const Row& candidate) {
        return is_named(candidate.name, whole.substr(kNamespace.size()));
      });
  types_ = row == std::end(kRows) ? 0 : row->types;
}

bool LackedTypes::contain(ScalarType type) const {
  return (types_ & kind_of(type)) != 0;
}

} // namespace torch_cuda::operators
