// Random numbers of the graph API.
#include <cmath>

#include "runtime/libraries/dnn/compute/random.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {

bool add_random(Builder& builder, const State& operation) {
  if (operation.kind != CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR) {
    return false;
  }
  const State& how = operation.child(
      CUDNN_ATTR_OPERATION_RNG_DESC, CUDNN_BACKEND_RNG_DESCRIPTOR);
  const auto distribution = how.get<cudnnRngDistribution_t>(
      CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_BERNOULLI);
  const double probability =
      how.number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, -1);
  const double low = how.number(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, -1);
  const double high = how.number(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, -1);
  require_supported(
      distribution == CUDNN_RNG_DISTRIBUTION_BERNOULLI ||
          distribution == CUDNN_RNG_DISTRIBUTION_UNIFORM,
      "normally distributed numbers are not supported");
  require_valid(
      distribution == CUDNN_RNG_DISTRIBUTION_BERNOULLI ? probability >= 0
                                                       : high >= low,
      "the distribution's numbers are none that it can have");
  const auto y = builder.tensor(operation, CUDNN_ATTR_OPERATION_RNG_YDESC);
  const auto offset =
      builder.optional(operation, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC);
  const Value* given = operation.find(CUDNN_ATTR_OPERATION_RNG_SEED);
  const bool in_memory =
      given != nullptr && given->type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
  const auto seed = in_memory
      ? builder.tensor(operation, CUDNN_ATTR_OPERATION_RNG_SEED)
      : std::int64_t{-1};
  const auto number =
      operation.get<std::int64_t>(CUDNN_ATTR_OPERATION_RNG_SEED, 0);
  const Dims dims = builder.dims(y);
  builder.add({seed, offset}, {y}, [=](auto& run) {
    const auto key =
        static_cast<std::uint64_t>(seed < 0 ? number : run.integer(seed));
    const auto begin =
        static_cast<std::uint64_t>(offset < 0 ? 0 : run.integer(offset));
    auto result = run.array(dims);
    auto* to = result.writable();
    using T = std::decay_t<decltype(*to)>;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const double uniform =
          random_uniform(key, begin, static_cast<std::uint64_t>(i));
      to[i] = distribution == CUDNN_RNG_DISTRIBUTION_BERNOULLI
          ? static_cast<T>(uniform <= probability)
          : static_cast<T>(low + uniform * (high - low));
    }
    run.out(y, std::move(result));
  });
  return true;
}

} // namespace accelerator::dnn
