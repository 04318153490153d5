// Every question is put to a generator of the CPU, but for the offset, which
// that has not: it is remembered, and goes where the state goes.
#include "adapter/testing/stand_in/csrc/device/generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include "router/aliasing/torch_versions.h"

#if !TORCH_CUDA_TORCH_SINCE(9)
#include <ATen/core/GeneratorForPrivateuseone.h>
#endif

#include <mutex>
#include <unordered_map>
#include <utility>

#include "c10/stand/StandFunctions.h"

namespace torch_stand_in {
namespace {

class StandGenerator final : public c10::GeneratorImpl {
 public:
  StandGenerator(c10::DeviceIndex device, at::Generator cpu)
      : GeneratorImpl(
            c10::Device(device_type(), device),
            c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cpu_(std::move(cpu)) {}

  static c10::DeviceType device_type() {
    return c10::DeviceType::PrivateUse1;
  }
  const at::Generator& cpu() const {
    return cpu_;
  }

  void set_current_seed(uint64_t seed) override {
    cpu_.set_current_seed(seed);
    offset_ = 0;
  }
  void set_offset(uint64_t offset) override {
    offset_ = offset;
  }
  uint64_t get_offset() const override {
    return offset_;
  }
  uint64_t current_seed() const override {
    return cpu_.current_seed();
  }
  uint64_t seed() override {
    return cpu_.unsafeGetGeneratorImpl()->seed();
  }
  void set_state(const c10::TensorImpl& state) override {
    cpu_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return cpu_.unsafeGetGeneratorImpl()->get_state();
  }

 private:
  StandGenerator* clone_impl() const override {
    auto* clone = new StandGenerator(device().index(), cpu_.clone());
    clone->offset_ = offset_;
    return clone;
  }

  at::Generator cpu_;
  uint64_t offset_ = 0;
};

#if !TORCH_CUDA_TORCH_SINCE(9)
// Newer ones ask the hooks.
REGISTER_GENERATOR_PRIVATEUSE1(new_generator)
#endif

} // namespace

const at::Generator& default_generator(c10::DeviceIndex device) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::unordered_map<c10::DeviceIndex, at::Generator>;
  device = c10::stand::device_or_current(device);
  TORCH_CHECK(
      device < c10::stand::device_count(),
      "stand-in error: there is no device ",
      static_cast<int>(device));
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto at = all->find(device);
  return at != all->end()
      ? at->second
      : all->emplace(device, new_generator(device)).first->second;
}

at::Generator new_generator(c10::DeviceIndex device) {
  return at::make_generator<StandGenerator>(
      c10::stand::device_or_current(device),
      at::make_generator<at::CPUGeneratorImpl>(c10::default_rng_seed_val));
}

at::Generator cpu_generator(const at::Generator& generator) {
  auto* own = dynamic_cast<StandGenerator*>(generator.unsafeGetGeneratorImpl());
  TORCH_CHECK(
      own,
      "Expected a '",
      c10::DeviceTypeName(c10::DeviceType::PrivateUse1, true),
      "' device type for generator but found '",
      generator.device().type(),
      "'");
  return own->cpu();
}

} // namespace torch_stand_in
