// Twins: the CPU's generators of CUDA's.
#include "accelerator/operators/random/generator.h"

#include "accelerator/operators/random/mersenne.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/DistributionsHelper.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <limits>
#include <mutex>
#include <unordered_map>

namespace torch_cuda::operators {

namespace {

// No offset: these are multiples of four.
constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

} // namespace

struct HostTwin {
  std::mutex alone;
  at::Generator host = at::detail::createCPUGenerator();
  // The state of the CUDA generator that `host` is at; another one was set by
  // the program.
  uint64_t seed = 0;
  uint64_t offset = kNowhere;
};

namespace {

// CUDA wants offsets that are multiples of four. Above those two bits:
//   40 bits   numbers that were drawn
//   1 bit     there is a second normal number: they are made in pairs
//   20 bits   how many numbers were drawn since that pair was made
constexpr uint64_t kDrawnBits = 40;
constexpr uint64_t kDrawnMask = (uint64_t{1} << kDrawnBits) - 1;
constexpr uint64_t kSinceLimit = uint64_t{1} << 20;
constexpr uint64_t kNumbersOfPair = 4;

struct Place {
  uint64_t drawn = 0;
  std::optional<uint64_t> since_pair;
};

uint64_t to_offset(const Place& place) {
  uint64_t offset = place.drawn & kDrawnMask;
  if (place.since_pair && *place.since_pair < kSinceLimit) {
    offset |= (uint64_t{1} | *place.since_pair << 1) << kDrawnBits;
  }
  return offset << 2;
}

Place from_offset(uint64_t offset) {
  offset >>= 2;
  Place place{offset & kDrawnMask, {}};
  const uint64_t pair = offset >> kDrawnBits;
  if ((pair & 1) != 0) {
    place.since_pair = pair >> 1;
  }
  return place;
}

// The second number of the pair that is made at a place.
std::optional<double> second_normal(uint64_t seed, uint64_t drawn) {
  auto probe = at::detail::createCPUGenerator();
  auto* generator = at::check_generator<at::CPUGeneratorImpl>(probe);
  generator->set_engine(engine_at(seed, drawn));
  at::normal_distribution<double> normal(0.0, 1.0);
  normal(generator);
  return generator->next_double_normal_sample();
}

void go_to(at::CPUGeneratorImpl& host, uint64_t seed, uint64_t offset) {
  const Place place = from_offset(offset);
  host.set_engine(engine_at(seed, place.drawn));
  host.set_next_float_normal_sample(std::nullopt);
  host.set_next_double_normal_sample(
      place.since_pair && place.drawn >= *place.since_pair + kNumbersOfPair
          ? second_normal(
                seed, place.drawn - *place.since_pair - kNumbersOfPair)
          : std::nullopt);
}

// Numbers since the pair was made whose second one is kept. It is made by the
// last draw as a rule; operators that mix distributions draw a little more.
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

std::shared_ptr<HostTwin> twin_of(const c10::GeneratorImpl* device) {
  static auto* mutex = new std::mutex;
  static auto* twins =
      new std::unordered_map<const void*, std::shared_ptr<HostTwin>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  // A twin only saves time: seed and offset say all. So forgetting some is
  // safe, and so is one whose generator went and left its address to another.
  constexpr size_t kept = 256;
  if (twins->size() >= kept && twins->count(device) == 0) {
    twins->clear();
  }
  auto& twin = (*twins)[device];
  if (!twin) {
    twin = std::make_shared<HostTwin>();
  }
  return twin;
}

} // namespace

HostGenerator::HostGenerator(
    const std::optional<at::Generator>& asked,
    c10::Device device)
    : device_(
          asked && asked->defined()
              ? *asked
              : at::cuda::detail::getDefaultCUDAGenerator(device.index())) {
  auto* cuda = at::check_generator<at::CUDAGeneratorImpl>(device_);
  twin_ = twin_of(cuda);
  alone_ = std::unique_lock<std::mutex>(twin_->alone);
  auto* host = at::check_generator<at::CPUGeneratorImpl>(twin_->host);
  {
    const std::lock_guard<std::mutex> lock(cuda->mutex_);
    seed_ = cuda->current_seed();
    offset_ = cuda->philox_offset_per_thread();
  }
  if (twin_->seed != seed_ || twin_->offset != offset_) {
    go_to(*host, seed_, offset_);
  }
  // Nobody knows where it is until it has moved on.
  twin_->offset = kNowhere;
  engine_ = host->engine().data();
  normal_ = host->next_double_normal_sample();
}

const at::Generator& HostGenerator::host() const {
  return twin_->host;
}

void HostGenerator::move_on() {
  auto* cuda = at::check_generator<at::CUDAGeneratorImpl>(device_);
  auto* host = at::check_generator<at::CPUGeneratorImpl>(twin_->host);
  const auto drawn = drawn_between(engine_, host->engine().data());
  Place place = from_offset(offset_);
  place.drawn += drawn;
  const auto normal = host->next_double_normal_sample();
  if (!normal) {
    place.since_pair.reset();
  } else if (normal == normal_ && place.since_pair) {
    place.since_pair = *place.since_pair + drawn;
  } else {
    place.since_pair = numbers_since_pair(*normal, seed_, place.drawn);
  }
  const uint64_t offset = to_offset(place);
  {
    const std::lock_guard<std::mutex> lock(cuda->mutex_);
    cuda->set_philox_offset_per_thread(offset);
  }
  twin_->seed = seed_;
  twin_->offset = offset;
}

} // namespace torch_cuda::operators
