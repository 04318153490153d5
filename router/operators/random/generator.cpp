// Twins: the CPU's generators of CUDA's.
#include "router/operators/random/generator.h"

#include "router/operators/random/mersenne.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

namespace torch_cuda::operators {

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
  place_ = twin_->in_graphs ? after_replays(offset_) : from_offset(offset_);
  if (place_) {
    twin_->go_to(seed_, *place_);
  } else {
    twin_->go_apart(seed_, offset_);
  }
  // Nobody knows where it is until it has moved on.
  twin_->at.reset();
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
  uint64_t offset = offset_ + replayed(drawn);
  if (place_) {
    move_on(*place_, drawn);
    offset = to_offset(*place_);
    twin_->seed = seed_;
    twin_->at = from_offset(offset);
    // What the offset cannot say is not kept.
    if (!twin_->at || !twin_->at->since_pair) {
      host->set_next_double_normal_sample(std::nullopt);
    }
  }
  const std::lock_guard<std::mutex> lock(cuda->mutex_);
  cuda->set_philox_offset_per_thread(offset);
}

void HostGenerator::move_on(Place& place, uint64_t drawn) const {
  auto* host = at::check_generator<at::CPUGeneratorImpl>(twin_->host);
  place.drawn += drawn;
  const auto normal = host->next_double_normal_sample();
  if (!normal) {
    place.since_pair.reset();
  } else if (normal == normal_ && place.since_pair) {
    place.since_pair = *place.since_pair + drawn;
  } else {
    place.since_pair = numbers_since_pair(*normal, seed_, place.drawn);
  }
}

} // namespace torch_cuda::operators
