// Found by calling the operators of PyTorch's table of samples on a GPU
// (tools/gpu/accepted_types.py), and by that table's types for CUDA.
#include "router/operators/calls/lacked_types.h"

#include "router/operators/calls/name_pattern.h"

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
    {"aten::mm", kIntegers | kComplexHalf},
    {"aten::addmm", kIntegers | kComplexHalf},
    {"aten::addmm_", kIntegers | kComplexHalf},
    {"aten::mv", kIntegers | kComplexHalf},
    {"aten::addmv", kIntegers | kComplexHalf},
    {"aten::addmv_", kIntegers | kComplexHalf},
    {"aten::bmm", kIntegers | kComplexHalf},
    {"aten::baddbmm", kIntegers | kComplexHalf},
    {"aten::baddbmm_", kIntegers | kComplexHalf},
    {"aten::addbmm", kIntegers | kComplexHalf},
    {"aten::addbmm_", kIntegers | kComplexHalf},
    {"aten::dot", kIntegers | kComplexHalf},
    {"aten::vdot", kIntegers | kComplexHalf},
    {"aten::convolution", kIntegers},
    {"aten::_convolution", kIntegers},
    {"aten::avg_pool2d", kIntegers},
    {"aten::avg_pool3d", kIntegers},
    {"aten::max_pool2d_with_indices", kIntegers},
    {"aten::max_pool3d_with_indices", kIntegers},
    {"aten::upsample_bilinear2d", kByte},
    {"aten::upsample_bicubic2d", kByte},
    {"aten::_upsample_bilinear2d_aa", kByte},
    {"aten::_upsample_bicubic2d_aa", kByte},
    {"aten::histc", kHalf},
    {"aten::_cdist_forward", kHalf},
    {"aten::_ctc_loss", kHalf},
    {"aten::igamma", kHalf},
    {"aten::igamma_", kHalf},
    {"aten::igammac", kHalf},
    {"aten::igammac_", kHalf},
    {"aten::special_airy_ai", kHalf},
    {"aten::special_bessel_*", kHalf},
    {"aten::special_chebyshev_*", kHalf},
    {"aten::special_erfcx", kHalf},
    {"aten::special_hermite_*", kHalf},
    {"aten::special_laguerre_*", kHalf},
    {"aten::special_legendre_*", kHalf},
    {"aten::special_log_ndtr", kHalf},
    {"aten::special_modified_*", kHalf},
    {"aten::special_ndtri", kHalf},
    {"aten::special_scaled_*", kHalf},
    {"aten::special_shifted_*", kHalf},
    {"aten::special_spherical_*", kHalf},
    {"aten::special_zeta", kHalf},
    // Of LAPACK.
    {"aten::cholesky", kHalf | kComplexHalf},
    {"aten::cholesky_inverse", kHalf | kComplexHalf},
    {"aten::cholesky_solve", kHalf | kComplexHalf},
    {"aten::geqrf", kHalf | kComplexHalf},
    {"aten::linalg_cholesky_ex", kHalf | kComplexHalf},
    {"aten::linalg_eig", kHalf | kComplexHalf},
    {"aten::linalg_eigvals", kHalf | kComplexHalf},
    {"aten::linalg_householder_product", kHalf | kComplexHalf},
    {"aten::linalg_inv_ex", kHalf | kComplexHalf},
    {"aten::linalg_ldl_*", kHalf | kComplexHalf},
    {"aten::linalg_lstsq", kHalf | kComplexHalf},
    {"aten::linalg_lu*", kHalf | kComplexHalf},
    {"aten::linalg_qr", kHalf | kComplexHalf},
    {"aten::linalg_solve_triangular", kHalf | kComplexHalf},
    {"aten::_linalg_det", kHalf | kComplexHalf},
    {"aten::_linalg_eigh", kHalf | kComplexHalf},
    {"aten::_linalg_eigvals", kHalf | kComplexHalf},
    {"aten::_linalg_slogdet", kHalf | kComplexHalf},
    {"aten::_linalg_solve_ex", kHalf | kComplexHalf},
    {"aten::_linalg_svd", kHalf | kComplexHalf},
    {"aten::ormqr", kHalf | kComplexHalf},
    {"aten::triangular_solve", kHalf | kComplexHalf},
};

} // namespace

LackedTypes::LackedTypes(const c10::OperatorName& name) {
  const auto* row = std::find_if(
      std::begin(kRows), std::end(kRows), [&](const Row& candidate) {
        return is_named(candidate.name, name.name);
      });
  types_ = row == std::end(kRows) ? 0 : row->types;
}

bool LackedTypes::contain(ScalarType type) const {
  return (types_ & kind_of(type)) != 0;
}

} // namespace torch_cuda::operators
