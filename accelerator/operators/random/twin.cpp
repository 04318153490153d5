// Places as offsets, and generators at places.
#include "accelerator/operators/random/twin.h"

#include "accelerator/operators/random/mersenne.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/DistributionsHelper.h>

#include <unordered_map>

namespace torch_cuda::operators {
namespace {

// CUDA wants offsets that are multiples of four. Above those two bits:
//   40 bits   numbers that were drawn
//   1 bit     there is a second normal number
//   20 bits   the low bits of the numbers that were drawn when it was made
constexpr uint64_t kDrawnBits = 40;
constexpr uint64_t kDrawnMask = (uint64_t{1} << kDrawnBits) - 1;
constexpr uint64_t kSinceLimit = uint64_t{1} << 20;
constexpr uint64_t kSinceMask = kSinceLimit - 1;
constexpr uint64_t kNumbersOfPair = 4;

// The second number of the pair that is made at a place.
std::optional<double> second_normal(uint64_t seed, uint64_t drawn) {
  auto probe = at::detail::createCPUGenerator();
  auto* generator = at::check_generator<at::CPUGeneratorImpl>(probe);
  generator->set_engine(engine_after(engine_of(seed).data(), drawn));
  at::normal_distribution<double> normal(0.0, 1.0);
  normal(generator);
  return generator->next_double_normal_sample();
}

} // namespace

uint64_t to_offset(const Place& place) {
  uint64_t offset = place.drawn & kDrawnMask;
  if (place.since_pair && *place.since_pair < kSinceLimit) {
    const uint64_t made = (place.drawn - *place.since_pair) & kSinceMask;
    offset |= (uint64_t{1} | made << 1) << kDrawnBits;
  }
  return offset << 2;
}

Place from_offset(uint64_t offset) {
  offset >>= 2;
  Place place{offset & kDrawnMask, {}};
  const uint64_t pair = offset >> kDrawnBits;
  if ((pair & 1) != 0) {
    place.since_pair = (place.drawn - (pair >> 1)) & kSinceMask;
  }
  return place;
}

HostTwin::HostTwin() : host(at::detail::createCPUGenerator()) {}

void HostTwin::go_to(uint64_t to_seed, uint64_t to) {
  if (seed == to_seed && offset == to) {
    return;
  }
  auto& generator = *at::check_generator<at::CPUGeneratorImpl>(host);
  const Place place = from_offset(to);
  const bool ahead = seed == to_seed && offset != kNowhere &&
      from_offset(offset).drawn <= place.drawn;
  generator.set_engine(
      ahead ? engine_after(
                  generator.engine().data(),
                  place.drawn - from_offset(offset).drawn)
            : engine_after(engine_of(to_seed).data(), place.drawn));
  generator.set_next_float_normal_sample(std::nullopt);
  generator.set_next_double_normal_sample(
      place.since_pair && place.drawn >= *place.since_pair + kNumbersOfPair
          ? second_normal(
                to_seed, place.drawn - *place.since_pair - kNumbersOfPair)
          : std::nullopt);
  seed = to_seed;
  offset = to;
}

std::optional<uint64_t> numbers_since_pair(
    double kept,
    uint64_t seed,
    uint64_t drawn) {
  constexpr uint64_t searched = 64;
  for (uint64_t since = 0; since < searched && drawn >= since + kNumbersOfPair;
       ++since) {
    if (second_normal(seed, drawn - since - kNumbersOfPair) == kept) {
      return since;
    }
  }
  return std::nullopt;
}

std::shared_ptr<HostTwin> twin_of(const void* generator) {
  static auto* mutex = new std::mutex;
  static auto* twins =
      new std::unordered_map<const void*, std::shared_ptr<HostTwin>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  // A twin only saves time: seed and offset say all. So forgetting some is
  // safe, and so is one whose generator went and left its address to another.
  constexpr size_t kept = 256;
  if (twins->size() >= kept && twins->count(generator) == 0) {
    twins->clear();
  }
  auto& twin = (*twins)[generator];
  if (!twin) {
    twin = std::make_shared<HostTwin>();
  }
  return twin;
}

} // namespace torch_cuda::operators
