// The Poisson distribution, for numbers by the inverse of its distribution
// function.
#pragma once

#include <cstdint>
#include <vector>

namespace accelerator::rand {

class Poisson {
 public:
  /// cuRAND's limit.
  static constexpr double kLargest = 400000;

  /// @param lambda the mean, in (0, kLargest].
  explicit Poisson(double lambda);

  /// The smallest number whose distribution function reaches a uniform number
  /// in (0, 1].
  std::uint32_t quantile(double uniform) const;

 private:
  std::uint32_t first_;
  /// The distribution function from first_ on, as far as 32 bits tell it from 0
  /// and 1.
  std::vector<double> sums_;
};

} // namespace accelerator::rand
