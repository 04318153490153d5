// Every question is put to the CUDA generator.
#include "pu/csrc/device/generator.h"

#include "pu/csrc/device/names.h"
#include "router/aliasing/torch_versions.h"

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#if !TORCH_CUDA_TORCH_SINCE(9)
#include <ATen/core/GeneratorForPrivateuseone.h>
#endif

#include <mutex>
#include <unordered_map>
#include <utility>

namespace torch_pu {
namespace {

class PuGenerator final : public c10::GeneratorImpl {
 public:
  explicit PuGenerator(at::Generator cuda)
      : GeneratorImpl(
            to_pu(cuda.device()),
            c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cuda_(std::move(cuda)) {}

  static c10::DeviceType device_type() {
    return kPu;
  }
  const at::Generator& cuda() const {
    return cuda_;
  }

  void set_current_seed(uint64_t seed) override {
    const std::lock_guard<std::mutex> lock(cuda_.mutex());
    cuda_.set_current_seed(seed);
  }
  void set_offset(uint64_t offset) override {
    const std::lock_guard<std::mutex> lock(cuda_.mutex());
    cuda_.set_offset(offset);
  }
  uint64_t get_offset() const override {
    return cuda_.get_offset();
  }
  uint64_t current_seed() const override {
    return cuda_.current_seed();
  }
  uint64_t seed() override {
    // Not Generator::seed: the lock is this generator's.
    return cuda_.unsafeGetGeneratorImpl()->seed();
  }
  void set_state(const c10::TensorImpl& state) override {
    cuda_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return cuda_.unsafeGetGeneratorImpl()->get_state();
  }
  void graphsafe_set_state(
      const c10::intrusive_ptr<c10::GeneratorImpl>& state) override {
    auto* pu = dynamic_cast<PuGenerator*>(state.get());
    TORCH_CHECK_TYPE(
        pu, "Expected a generator of pu, but found one of ", state->device());
    cuda_.unsafeGetGeneratorImpl()->graphsafe_set_state(
        pu->cuda_.getIntrusivePtr());
  }
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override {
    return c10::make_intrusive<PuGenerator>(
        at::Generator(cuda_.unsafeGetGeneratorImpl()->graphsafe_get_state()));
  }
#if TORCH_CUDA_TORCH_SINCE(15)
  void philox_state(
      uint64_t increment,
      at::Tensor& seed,
      at::Tensor& offset,
      at::Tensor& offset_within_graph) override {
    // CUDA's has a lock of its own.
    cuda_.unsafeGetGeneratorImpl()->philox_state(
        increment, seed, offset, offset_within_graph);
  }
#endif

 private:
  PuGenerator* clone_impl() const override {
    return new PuGenerator(cuda_.clone());
  }

  at::Generator cuda_;
};

c10::DeviceIndex index_of(c10::DeviceIndex device) {
  return device >= 0
      ? device
      : c10::impl::getDeviceGuardImpl(kCuda)->getDevice().index();
}

const at::Generator& cuda_default(c10::DeviceIndex device) {
  at::globalContext().lazyInitDevice(kCuda);
  return at::globalContext().defaultGenerator(c10::Device(kCuda, device));
}

#if !TORCH_CUDA_TORCH_SINCE(9)
// Newer ones ask the hooks.
REGISTER_GENERATOR_PRIVATEUSE1(new_generator)
#endif

} // namespace

at::Generator pu_generator(at::Generator cuda) {
  return at::make_generator<PuGenerator>(std::move(cuda));
}

at::Generator cuda_generator(const at::Generator& pu) {
  auto* impl = dynamic_cast<PuGenerator*>(pu.unsafeGetGeneratorImpl());
  TORCH_CHECK_TYPE(
      impl, "Expected a generator of pu, but found one of ", pu.device());
  return impl->cuda();
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  device = index_of(device);
  static auto* mutex = new std::mutex;
  static auto* generators =
      new std::unordered_map<c10::DeviceIndex, at::Generator>;
  const auto& cuda = cuda_default(device);
  const std::lock_guard<std::mutex> lock(*mutex);
  return generators->try_emplace(device, pu_generator(cuda)).first->second;
}

at::Generator new_generator(c10::DeviceIndex device) {
  auto cuda = cuda_default(index_of(device)).clone();
  cuda.set_offset(0);
  cuda.set_current_seed(c10::default_rng_seed_val);
  return pu_generator(std::move(cuda));
}

} // namespace torch_pu
