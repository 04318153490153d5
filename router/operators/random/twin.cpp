// Places as offsets, and generators at places.
#include "router/operators/random/twin.h"

#include "router/operators/random/mersenne.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/DistributionsHelper.h>

#include <iterator>
#include <unordered_map>

namespace torch_cuda::operators {
namespace {

// CUDA wants offsets that are multiples of four. Above those two bits:
//   34 bits   numbers that were drawn
//   27 bits   without a second normal number: a check of the numbers
//             with one: 16 low bits of the numbers that were drawn when it was
//             made, and a check of 11 bits
//   1 bit     there is a second normal number
constexpr uint64_t kDrawnBits = 34;
constexpr uint64_t kSinceBits = 16;
constexpr uint64_t kCheckBits = 27;
constexpr uint64_t kNumbersOfPair = 4;

constexpr uint64_t below(uint64_t bits) {
  return (uint64_t{1} << bits) - 1;
}

// Nothing of the numbers 0: a new generator is at the place 0.
uint64_t check_of(uint64_t drawn, uint64_t bits) {
  constexpr uint64_t golden = 0x9e3779b97f4a7c15;
  return ((drawn & below(kDrawnBits)) * golden) >> (64 - bits);
}

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
  if (place.drawn > below(kDrawnBits)) {
    return place.drawn << 2; // no place: what follows is apart
  }
  uint64_t above = check_of(place.drawn, kCheckBits);
  if (place.since_pair && *place.since_pair <= below(kSinceBits)) {
    const uint64_t made = (place.drawn - *place.since_pair) & below(kSinceBits);
    above = uint64_t{1} << kCheckBits |
        check_of(place.drawn, kCheckBits - kSinceBits) << kSinceBits | made;
  }
  return (above << kDrawnBits | (place.drawn & below(kDrawnBits))) << 2;
}

Place after_replays(uint64_t offset) {
  Place place{offset >> 2 & below(kDrawnBits), {}};
  const uint64_t above = offset >> (2 + kDrawnBits);
  if (above >> kCheckBits != 0) {
    place.since_pair = (place.drawn - above) & below(kSinceBits);
  }
  return place;
}

std::optional<Place> from_offset(uint64_t offset) {
  const Place place = after_replays(offset);
  if (to_offset(place) != offset) {
    return std::nullopt;
  }
  return place;
}

uint64_t replayed(uint64_t numbers) {
  return numbers << 2;
}

HostTwin::HostTwin() : host(at::detail::createCPUGenerator()) {}

void HostTwin::go_to(uint64_t to_seed, const Place& place) {
  const bool known = at && seed == to_seed;
  if (known && at->drawn == place.drawn && at->since_pair == place.since_pair) {
    return;
  }
  auto& generator = *at::check_generator<at::CPUGeneratorImpl>(host);
  generator.set_engine(
      known && at->drawn <= place.drawn
          ? engine_after(generator.engine().data(), place.drawn - at->drawn)
          : engine_after(engine_of(to_seed).data(), place.drawn));
  generator.set_next_float_normal_sample(std::nullopt);
  generator.set_next_double_normal_sample(
      place.since_pair && place.drawn >= *place.since_pair + kNumbersOfPair
          ? second_normal(
                to_seed, place.drawn - *place.since_pair - kNumbersOfPair)
          : std::nullopt);
  seed = to_seed;
  at = place;
}

void HostTwin::go_apart(uint64_t to_seed, uint64_t offset) {
  auto& generator = *at::check_generator<at::CPUGeneratorImpl>(host);
  generator.set_engine(engine_apart(to_seed, offset));
  generator.set_next_float_normal_sample(std::nullopt);
  generator.set_next_double_normal_sample(std::nullopt);
  at.reset();
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
  // But for graphs a twin only saves time: seed and offset say all. So
  // forgetting is safe, and so is one whose generator went and left its address
  // to another.
  constexpr size_t kept = 256;
  if (twins->size() >= kept && twins->count(generator) == 0) {
    for (auto each = twins->begin(); each != twins->end();) {
      each = each->second->in_graphs ? std::next(each) : twins->erase(each);
    }
  }
  auto& twin = (*twins)[generator];
  if (!twin) {
    twin = std::make_shared<HostTwin>();
  }
  return twin;
}

} // namespace torch_cuda::operators
