// Half precision in, single precision out: nothing is rounded on the way.
#include "router/operators/kernels/products/products.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/out.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>
#include <c10/util/Exception.h>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::Scalar;
using c10::ScalarType;

// What CUDA's kernels take (cublasGemmEx).
void check_types(const Tensor& left, const Tensor& right, ScalarType type) {
  TORCH_CHECK(
      left.scalar_type() == right.scalar_type(),
      "matrices of the same type are needed, found ",
      left.scalar_type(),
      " and ",
      right.scalar_type());
  TORCH_CHECK(
      type == left.scalar_type() ||
          (type == c10::kFloat &&
           (left.scalar_type() == c10::kHalf ||
            left.scalar_type() == c10::kBFloat16)),
      "out_dtype must be the matrices' type, or float32 for float16 and "
      "bfloat16; found ",
      type,
      " for ",
      left.scalar_type());
}

Tensor& copy_same_type(Tensor& out, const Tensor& result) {
  TORCH_CHECK(
      out.scalar_type() == result.scalar_type(),
      "out_dtype must be the type of out: found ",
      result.scalar_type(),
      " and ",
      out.scalar_type());
  return resize_and_copy(out, result);
}

Tensor mm_as(const Tensor& left, const Tensor& right, ScalarType type) {
  check_types(left, right, type);
  return at::mm(left.to(type), right.to(type));
}

Tensor& mm_as_out(
    const Tensor& left,
    const Tensor& right,
    ScalarType type,
    Tensor& out) {
  return copy_same_type(out, mm_as(left, right, type));
}

Tensor bmm_as(const Tensor& left, const Tensor& right, ScalarType type) {
  check_types(left, right, type);
  return at::bmm(left.to(type), right.to(type));
}

Tensor& bmm_as_out(
    const Tensor& left,
    const Tensor& right,
    ScalarType type,
    Tensor& out) {
  return copy_same_type(out, bmm_as(left, right, type));
}

void check_addend(const Tensor& addend, const Tensor& left, ScalarType type) {
  TORCH_CHECK(
      addend.scalar_type() == type ||
          addend.scalar_type() == left.scalar_type(),
      "what is added must be of out_dtype or of the matrices' type: found ",
      addend.scalar_type());
}

Tensor addmm_as(
    const Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    ScalarType type,
    const Scalar& beta,
    const Scalar& alpha) {
  check_types(left, right, type);
  check_addend(addend, left, type);
  return at::addmm(addend.to(type), left.to(type), right.to(type), beta, alpha);
}

Tensor& addmm_as_out(
    const Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    ScalarType type,
    const Scalar& beta,
    const Scalar& alpha,
    Tensor& out) {
  return copy_same_type(out, addmm_as(addend, left, right, type, beta, alpha));
}

Tensor baddbmm_as(
    const Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    ScalarType type,
    const Scalar& beta,
    const Scalar& alpha) {
  check_types(left, right, type);
  check_addend(addend, left, type);
  return at::baddbmm(
      addend.to(type), left.to(type), right.to(type), beta, alpha);
}

Tensor& baddbmm_as_out(
    const Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    ScalarType type,
    const Scalar& beta,
    const Scalar& alpha,
    Tensor& out) {
  return copy_same_type(
      out, baddbmm_as(addend, left, right, type, beta, alpha));
}

} // namespace

void route_products() {
  register_function("aten::mm", "dtype", &mm_as);
  register_function("aten::mm", "dtype_out", &mm_as_out);
  register_function("aten::bmm", "dtype", &bmm_as);
  register_function("aten::bmm", "dtype_out", &bmm_as_out);
  register_function("aten::addmm", "dtype", &addmm_as);
  register_function("aten::addmm", "dtype_out", &addmm_as_out);
  register_function("aten::baddbmm", "dtype", &baddbmm_as);
  register_function("aten::baddbmm", "dtype_out", &baddbmm_as_out);
}

} // namespace torch_cuda::operators
