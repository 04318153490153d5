// Reductions of arrays in some of their dimensions.
// Source: cuDNN API, cudnnReduceTensorOp_t.
#pragma once

#include <cudnn.h>

#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

/// @param y its dimensions are 1 where x is reduced, or a fraction of x's,
/// where neighbours are reduced.
template <typename T>
Array<T> reduce(
    cudnnReduceTensorOp_t operation,
    const Array<T>& x,
    const Dims& y);

/// The first place of the extreme element among those that each result comes
/// from: for CUDNN_REDUCE_TENSOR_MIN, MAX and AMAX.
template <typename T>
std::vector<std::int64_t> extreme_places(
    cudnnReduceTensorOp_t operation,
    const Array<T>& x,
    const Dims& y);

} // namespace accelerator::dnn
