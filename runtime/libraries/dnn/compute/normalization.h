// Normalization: (x - mean) times the inverse deviation, with statistics over
// some dimensions, forward and backward.
#pragma once

#include <optional>

#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

/// What elements are normalized with. Dimensions are 1 where statistics are
/// over all of x's.
template <typename T>
struct Statistics {
  std::optional<Array<T>> mean; // none for RMS: not subtracted
  Array<T> inverse; // 1 / sqrt(variance + epsilon)
};

/// @param centred whether there is a mean; without it the variance is the mean
/// of squares, as in RMS normalization.
/// @param variance the biased one, if it is wanted.
template <typename T>
Statistics<T> statistics_of(
    const Array<T>& x,
    const Dims& dims,
    bool centred,
    double epsilon,
    Array<T>* variance = nullptr);

/// 1 / sqrt(variance + epsilon).
template <typename T>
Array<T> inverse_deviation(const Array<T>& variance, double epsilon);

/// x hat, which is scaled and gets a bias then; both may be null.
template <typename T>
Array<T> normalize(
    const Array<T>& x,
    const Statistics<T>& statistics,
    const Array<T>* scale,
    const Array<T>* bias);

template <typename T>
struct NormalizationGradients {
  Array<T> dx, dscale, dbias;
};

/// @param parameters the dimensions of scale and bias.
template <typename T>
NormalizationGradients<T> normalize_backward(
    const Array<T>& x,
    const Array<T>& dy,
    const Statistics<T>& statistics,
    const Array<T>* scale,
    const Dims& parameters);

} // namespace accelerator::dnn
