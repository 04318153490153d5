// Counting at the capture, going there at the replay.
#include "router/operators/capture/captured_generator.h"

#include "router/operators/dispatch/devices.h"
#include "router/operators/random/mersenne.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <utility>

namespace torch_cuda::operators {
namespace {

at::CPUGeneratorImpl& impl(const at::Generator& generator) {
  return *at::check_generator<at::CPUGeneratorImpl>(generator);
}

} // namespace

CapturedGenerator::CapturedGenerator(
    const std::optional<at::Generator>& asked,
    c10::Device device)
    : device_(
          asked && asked->defined()
              ? *asked
              : at::cuda::detail::getDefaultCUDAGenerator(device.index())) {
  (void)at::check_generator<at::CUDAGeneratorImpl>(device_);
}

at::Generator CapturedGenerator::counting() {
  counting_ = at::detail::createCPUGenerator();
  return counting_;
}

void CapturedGenerator::reserve(uint64_t more) {
  const at::mt19937 fresh(impl(counting_).current_seed());
  const uint64_t numbers =
      more + drawn_between(fresh.data(), impl(counting_).engine().data());
  const auto place = [&] {
    auto* device = at::check_generator<at::CUDAGeneratorImpl>(device_);
    twin_of(device)->in_graphs = true;
    const std::lock_guard<std::mutex> lock(device->mutex_);
    return device->philox_cuda_state(replayed(numbers));
  }();
  seed_ = place.seed_.ptr;
  offset_ = place.offset_.ptr;
  first_ = place.offset_intragraph_;
  twin_ = twin_of(seed_);
  const auto device = device_.device().index();
  if (!host_sees(device)) {
    copied_ = std::make_unique<std::array<int64_t, 2>>();
    const auto stream = c10::cuda::getCurrentCUDAStream(device).stream();
    for (auto [from, to] :
         {std::pair(&seed_, &copied_->at(0)),
          std::pair(&offset_, &copied_->at(1))}) {
      C10_CUDA_CHECK(cudaMemcpyAsync(
          to, *from, sizeof(int64_t), cudaMemcpyDeviceToHost, stream));
      *from = to;
    }
  }
  counting_ = at::Generator();
  device_ = at::Generator();
}

ReplayedGenerator::ReplayedGenerator(const CapturedGenerator& captured)
    : twin_(captured.twin_), alone_(twin_->alone) {
  // A normal number that is kept from before is for who draws outside of
  // graphs: how many numbers a graph draws must not depend on it.
  const auto begin = static_cast<uint64_t>(*captured.offset_);
  drawn_ = after_replays(begin).drawn + after_replays(captured.first_).drawn;
  twin_->go_to(
      static_cast<uint64_t>(*captured.seed_), Place{drawn_, std::nullopt});
  twin_->at.reset();
  engine_ = impl(twin_->host).engine().data();
}

void ReplayedGenerator::done() {
  auto& host = impl(twin_->host);
  host.set_next_float_normal_sample(std::nullopt);
  host.set_next_double_normal_sample(std::nullopt);
  drawn_ += drawn_between(engine_, host.engine().data());
  twin_->at = Place{drawn_, std::nullopt};
}

} // namespace torch_cuda::operators
