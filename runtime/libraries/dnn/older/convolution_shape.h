// What a convolution of the older API is to compute.
#pragma once

#include "runtime/libraries/dnn/compute/convolution.h"
#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {

/// A convolution of tensors with as many spatial dimensions as they have;
/// descriptors may have one dimension of 1 more.
inline Convolution shape_of(
    const cudnnConvolutionStruct& how,
    const Layout& x,
    const Layout& w,
    const Layout& y) {
  require_known(x);
  require_known(w);
  require_known(y);
  require_valid(
      x.dims.size() == how.strides.size() + 2,
      "the convolution and its tensors differ in dimensions");
  const Convolution shape = Convolution::of(
      x.dims,
      w.dims,
      y.dims,
      how.strides,
      how.dilations,
      how.paddings,
      how.paddings,
      how.mode == CUDNN_CONVOLUTION);
  require_valid(
      shape.groups == how.groups,
      "the channels do not fit the number of groups");
  return shape;
}

} // namespace accelerator::dnn
