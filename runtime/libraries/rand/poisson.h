// The Poisson distribution, and the three ways in which cuRAND's generators
// make its numbers of random bits. Which generator takes which way up to which
// mean is what libcurand.so of 10.4.5 answered.
#pragma once

#include <cstdint>
#include <vector>

namespace accelerator::rand {

class Poisson {
 public:
  /// cuRAND's limit.
  static constexpr double kLargest = 400000;
  /// The least mean that has no table of aliases.
  static constexpr double kLeastWithoutTable = 2000;

  /// @param lambda the mean, in (0, kLargest].
  explicit Poisson(double lambda);

  double lambda() const {
    return lambda_;
  }

  /// The smallest number whose distribution function reaches a uniform number
  /// in (0, 1].
  std::uint32_t quantile(double uniform) const;
  /// The number that Walker's method takes; only where there is a table.
  /// @param uniform in (0, 1).
  std::uint32_t aliased(double uniform) const;
  /// Of 32 bits of a generator that has one normal number for each uniform one.
  /// @param least_of_quantiles the least mean that needs no table.
  /// @param middle, @param end the uniform number, of what its bits stand for.
  /// @param normal makes the normal one of it.
  template <typename Normal>
  std::uint32_t of_uniform(
      double least_of_quantiles,
      double middle,
      double end,
      Normal normal) const {
    constexpr double kMostOfQuantiles = 8000;
    return lambda_ < least_of_quantiles ? aliased(middle)
        : lambda_ <= kMostOfQuantiles   ? quantile(end)
                                        : rounded(normal());
  }
  /// The number next to a normal one of the same mean and deviation.
  /// @param normal with mean 0 and standard deviation 1.
  std::uint32_t rounded(double normal) const;

 private:
  /// One of as many equal parts of (0, 1) as there are numbers: up to a share
  /// of it the number itself, beyond it another.
  struct Part {
    double share;
    std::uint32_t alias;
  };
  void make_parts();

  double lambda_;
  std::uint32_t first_;
  /// The distribution function from first_ on, as far as 32 bits tell it from 0
  /// and 1.
  std::vector<double> sums_;
  std::uint32_t first_part_ = 0;
  std::vector<Part> parts_;
};

} // namespace accelerator::rand
