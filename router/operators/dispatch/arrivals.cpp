// The dispatcher tells listeners, while it holds its lock: they only take
// notes.
#include "router/operators/dispatch/arrivals.h"

#include <memory>
#include <mutex>
#include <utility>

namespace torch_cuda::operators {
namespace {

struct Changes {
  std::mutex mutex;
  Arrivals since;
};

Changes& changes() {
  static auto* all = new Changes; // libraries unload late
  return *all;
}

class Listener final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle& /*op*/) override {
    const std::lock_guard lock(changes().mutex);
    changes().since.any = true;
  }

  void onOperatorDeregistered(const c10::OperatorHandle& op) override {
    const std::lock_guard lock(changes().mutex);
    changes().since.gone.push_back(op.operator_name());
  }
};

} // namespace

Arrivals take_arrivals() {
  // Kept: this library stays loaded.
  [[maybe_unused]] static auto* listening = new c10::RegistrationHandleRAII(
      c10::Dispatcher::singleton().addRegistrationListener(
          std::make_unique<Listener>()));
  const std::lock_guard lock(changes().mutex);
  return std::exchange(changes().since, {});
}

} // namespace torch_cuda::operators
