#include "runtime/libraries/rand/poisson.h"

#include <algorithm>
#include <cmath>

namespace accelerator::rand {
namespace {

double probability(double lambda, double k) {
  return std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1));
}

} // namespace

Poisson::Poisson(double lambda) : lambda_(lambda) {
  // Beyond, there is less than 2^-40.
  const double reach = 9 * std::sqrt(lambda) + 30;
  const double first = std::max(0.0, std::floor(lambda - reach));
  first_ = static_cast<std::uint32_t>(first);
  sums_.resize(static_cast<std::size_t>(lambda + reach - first) + 1);
  double sum = 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sum += probability(lambda, first + static_cast<double>(i));
    sums_[i] = sum;
  }
  if (lambda < kLeastWithoutTable) {
    make_parts();
  }
}

// The table has all numbers whose probability is not zero as a double. Parts
// that are not full are filled in their order, again and again, by the highest
// that has more than it needs.
void Poisson::make_parts() {
  while (first_part_ < lambda_ && probability(lambda_, first_part_) == 0) {
    ++first_part_;
  }
  for (std::uint32_t k = first_part_;; ++k) {
    const double its = probability(lambda_, k);
    if (its == 0 && k > lambda_) {
      break;
    }
    parts_.push_back({its, static_cast<std::uint32_t>(parts_.size())});
  }
  const std::size_t count = parts_.size();
  for (Part& part : parts_) {
    part.share *= static_cast<double>(count);
  }
  std::vector<bool> is_full(count);
  std::size_t giver = count;
  // After a round without a part to fill there is none, but for rounding.
  for (std::size_t i = 0, idle = 0; idle < count; i = (i + 1) % count) {
    while (giver > 0 && parts_[giver - 1].share < 1) {
      --giver;
    }
    if (giver == 0) {
      break;
    }
    if (is_full[i] || parts_[i].share >= 1) {
      ++idle;
      continue;
    }
    idle = 0;
    is_full[i] = true;
    parts_[i].alias = static_cast<std::uint32_t>(giver - 1);
    parts_[giver - 1].share -= 1 - parts_[i].share;
  }
}

std::uint32_t Poisson::quantile(double uniform) const {
  const auto found = std::lower_bound(sums_.begin(), sums_.end() - 1, uniform);
  return first_ + static_cast<std::uint32_t>(found - sums_.begin());
}

std::uint32_t Poisson::aliased(double uniform) const {
  const double place = uniform * static_cast<double>(parts_.size());
  const auto number = static_cast<std::uint32_t>(place);
  const Part& part = parts_[number];
  return first_part_ + (place - number < part.share ? number : part.alias);
}

std::uint32_t Poisson::rounded(double normal) const {
  return static_cast<std::uint32_t>(
      std::max(0.0, std::floor(lambda_ + std::sqrt(lambda_) * normal + 0.5)));
}

} // namespace accelerator::rand
