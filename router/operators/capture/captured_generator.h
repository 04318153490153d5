// Random numbers of operators in CUDA graphs.
//
// A replay begins at the state that the CUDA generator has then, and moves it
// on by what the graph draws, in upstream's own way: the numbers of all
// operators are counted while the graph is captured. So after a replay the
// generator is where the operators, one by one, would have brought it.
#pragma once

#include "router/operators/random/twin.h"

#include <ATen/core/Generator.h>
#include <ATen/core/MT19937RNGEngine.h>
#include <c10/core/Device.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace torch_cuda::operators {

class ReplayedGenerator;

/// The generator of one operator in a graph.
class CapturedGenerator {
 public:
  /// `asked` is the operator's argument; without one it is the default
  /// generator of `device`. Throws PyTorch's error for a generator of another
  /// device.
  CapturedGenerator(
      const std::optional<at::Generator>& asked,
      c10::Device device);

  /// A fresh generator of the CPU, to count the numbers of a run on
  /// placeholders.
  at::Generator counting();

  /// Takes what `counting()` has drawn, and `more`, from the numbers of the
  /// graph. Throws upstream's error for a generator that is not registered with
  /// the graph.
  void reserve(uint64_t more);

 private:
  friend class ReplayedGenerator;

  // Until its numbers are taken: it may have memory of the device, which must
  // not be freed where graphs end.
  at::Generator device_;
  at::Generator counting_;
  std::shared_ptr<HostTwin> twin_;
  // Upstream's, in memory of the device: where the replay begins. Where the
  // host does not see it, the graph copies it to `copied_`.
  const int64_t* seed_ = nullptr;
  const int64_t* offset_ = nullptr;
  std::unique_ptr<std::array<int64_t, 2>> copied_;
  uint64_t first_ = 0; // as an offset, from there
};

/// The CPU's generator at an operator's place in the replay that is under way.
/// It is the thread's alone while this lives.
class ReplayedGenerator {
 public:
  explicit ReplayedGenerator(const CapturedGenerator& captured);
  ReplayedGenerator(const ReplayedGenerator&) = delete;
  ReplayedGenerator& operator=(const ReplayedGenerator&) = delete;

  const at::Generator& host() const {
    return twin_->host;
  }
  /// Says that the operator has drawn its numbers, so that the next one finds
  /// the generator in its place.
  void done();

 private:
  std::shared_ptr<HostTwin> twin_;
  std::unique_lock<std::mutex> alone_;
  uint64_t drawn_;
  at::mt19937_data_pod engine_;
};

} // namespace torch_cuda::operators
