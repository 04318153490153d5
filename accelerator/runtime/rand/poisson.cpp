#include "accelerator/runtime/rand/poisson.h"

#include <algorithm>
#include <cmath>

namespace accelerator::rand {

Poisson::Poisson(double lambda) {
  // Beyond, there is less than 2^-40.
  const double reach = 9 * std::sqrt(lambda) + 30;
  const double first = std::max(0.0, std::floor(lambda - reach));
  first_ = static_cast<std::uint32_t>(first);
  sums_.resize(static_cast<std::size_t>(lambda + reach - first) + 1);
  double sum = 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double k = first + static_cast<double>(i);
    sum += std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1));
    sums_[i] = sum;
  }
}

std::uint32_t Poisson::quantile(double uniform) const {
  const auto found = std::lower_bound(sums_.begin(), sums_.end() - 1, uniform);
  return first_ + static_cast<std::uint32_t>(found - sums_.begin());
}

} // namespace accelerator::rand
