// What lives here: the implementation of absent_profiler.h, see there.
#include "python/csrc/absent_profiler.h"

#include <c10/util/Exception.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <cstdint>
#include <functional>

namespace torch_cuda {
namespace {

using torch::profiler::impl::cudaStubs;
using torch::profiler::impl::ProfilerStubs;
using torch::profiler::impl::ProfilerVoidEventStub;

constexpr auto kToInstall =
    "the plugin torch_cuda_profiler, which is not installed. "
    "To have it: python -m pip install torch_cuda_profiler";

class AbsentProfiler final : public ProfilerStubs {
 public:
  // An event that stays empty stands for no time, without an error.
  void record(
      c10::DeviceIndex* /*device*/,
      ProfilerVoidEventStub* /*event*/,
      int64_t* /*cpu_ns*/) const override {
    TORCH_WARN_ONCE(
        "torch.profiler reports the CPU's times only: CUDA's are recorded by ",
        kToInstall);
  }
  float elapsed(
      const ProfilerVoidEventStub* /*event*/,
      const ProfilerVoidEventStub* /*event2*/) const override {
    return 0;
  }
  // What asks for ranges asks this first, and would say that torch was compiled
  // without CUDA.
  bool enabled() const override {
    fail();
  }
  void mark(const char* /*name*/) const override {
    fail();
  }
  void rangePush(const char* /*name*/) const override {
    fail();
  }
  void rangePop() const override {
    fail();
  }
  void onEachDevice(std::function<void(int)> /*op*/) const override {
    fail();
  }
  void synchronize() const override {
    fail();
  }

 private:
  [[noreturn]] static void fail() {
    TORCH_CHECK(
        false,
        "found a profiler that marks operators for CUDA's tools (NVTX); "
        "it needs ",
        kToInstall);
  }
};

} // namespace

void install_absent_profiler() {
  // Profilers of other threads may ask while the process ends.
  static auto* absent = new AbsentProfiler();
  if (cudaStubs() != absent && !cudaStubs()->enabled()) {
    torch::profiler::impl::registerCUDAMethods(absent);
  }
}

} // namespace torch_cuda
