// Random numbers of a device whose kernels run on the host: the CPU's.
//
// A CUDA generator is a seed and an offset. Here the offset says how many
// numbers were drawn from the CPU's engine of that seed. So after
// torch.manual_seed(s) a device gives the numbers that the CPU gives, and
// setting a generator's state, here or in another process, brings back its
// numbers. At an offset that a program made up begin numbers of their own.
#pragma once

#include "router/operators/random/twin.h"

#include <ATen/core/Generator.h>
#include <ATen/core/MT19937RNGEngine.h>
#include <c10/core/Device.h>

#include <memory>
#include <mutex>
#include <optional>

namespace torch_cuda::operators {

/// The generator of one call; it is the thread's alone while this lives.
class HostGenerator {
 public:
  /// `asked` is the operator's argument; without one it is the default
  /// generator of `device`. Throws PyTorch's error for a generator of another
  /// device.
  HostGenerator(const std::optional<at::Generator>& asked, c10::Device device);
  HostGenerator(const HostGenerator&) = delete;
  HostGenerator& operator=(const HostGenerator&) = delete;

  /// The CPU's generator at the same place.
  const at::Generator& host() const;

  /// Moves the CUDA generator on by what was drawn. Without it, after an error,
  /// the generator stays where it was.
  void move_on();

 private:
  void move_on(Place& place, uint64_t drawn) const;

  at::Generator device_;
  std::shared_ptr<HostTwin> twin_;
  std::unique_lock<std::mutex> alone_;
  uint64_t seed_ = 0;
  uint64_t offset_ = 0;
  std::optional<Place> place_; // of `offset_`
  at::mt19937_data_pod engine_{};
  std::optional<double> normal_;
};

} // namespace torch_cuda::operators
