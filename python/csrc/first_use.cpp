// What lives here: the implementation of first_use.h, see there.
#include "python/csrc/first_use.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

namespace torch_cuda {
namespace {

Operators& operators() {
  static auto* all = new Operators;
  return *all;
}

std::atomic<int> routed{0};

c10::OperatorHandle empty() {
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      "aten::empty", "memory_format");
}

bool is_loaded(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) {
    dlclose(handle);
  }
  return handle != nullptr;
}

// --//config:ops=runtime leaves them out. To be asked before `Factories`. The
// router asks the same (router/operators/dispatch/devices.cpp): the
// bindings know its library by the path alone, so that nothing is shared.
bool has_upstreams_kernels() {
  static const bool has =
      empty().hasKernelForDispatchKey(c10::DispatchKey::CUDA);
  return has;
}

// Where the build has no kernels, these are what a first use from C++ comes to:
// they initialise CUDA, which puts the right ones in their place.
void initialise(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack) {
  at::globalContext().lazyInitDevice(c10::kCUDA);
  op.redispatchBoxed(keys, stack);
}

class Factories {
 public:
  void add() {
    for (const auto& op :
         {empty(),
          c10::Dispatcher::singleton().findSchemaOrThrow(
              "aten::empty_strided", "")}) {
      registered_.push_back(c10::Dispatcher::singleton().registerImpl(
          op.operator_name(),
          c10::DispatchKey::CUDA,
          c10::KernelFunction::makeFromBoxedFunction<&initialise>(),
          std::nullopt,
          nullptr,
          "torch_cuda: first use of CUDA"));
    }
  }
  void remove() {
    registered_.clear();
  }

 private:
  std::vector<c10::RegistrationHandleRAII> registered_;
};

Factories& factories() {
  static auto* all = new Factories;
  return *all;
}

template <class Function>
Function* function(void* library, const char* name) {
  void* const found = dlsym(library, name);
  TORCH_CHECK(found != nullptr, "torch_cuda: ", dlerror());
  return reinterpret_cast<Function*>(found);
}

} // namespace

void route_on_first_use(Operators all) {
  operators() = std::move(all);
  if (!operators().library.empty() && !has_upstreams_kernels()) {
    factories().add();
  }
}

void route_operators() {
  const auto& [path, announced] = operators();
  if (path.empty() ||
      (!is_loaded("libaccel_runtime.so") && has_upstreams_kernels())) {
    return;
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  TORCH_CHECK(
      library != nullptr,
      "torch_cuda: the kernels for devices that run no CUDA code do not load: ",
      dlerror(),
      ". Needed is an undamaged wheel: python -m torch_cuda doctor says what "
      "to do.");
  auto* const announce = function<void(const char*, const char*)>(
      library, "torch_cuda_announce_operators");
  for (const auto& [device, file] : announced) {
    announce(device.c_str(), file.c_str());
  }
  std::array<char, 4096> message{};
  auto* const route =
      function<int(char*, std::size_t)>(library, "torch_cuda_route_operators");
  factories().remove();
  const int count = route(message.data(), message.size());
  if (count < 0) {
    if (!has_upstreams_kernels()) {
      factories().add(); // for the next use, which gets the same answer
    }
    TORCH_CHECK(false, message.data());
  }
  routed = count;
}

int routed_operators() {
  return routed;
}

} // namespace torch_cuda
