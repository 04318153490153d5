// The functions of libtorch_pu.so that Python calls. Loading the library
// registers guard, hooks, allocator and generators; these register the rest.
#include "pu/csrc/amp/autocast.h"
#include "pu/csrc/device/engine.h"
#include "pu/csrc/operators/registration.h"

#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdio>
#include <exception>

namespace {

template <class Work>
int reported(char* message, std::size_t capacity, const Work& work) {
  const auto report = [&](const char* reason) {
    std::snprintf(message, capacity, "%s", reason);
    return -1;
  };
  try {
    return work();
  } catch (const c10::Error& error) {
    return report(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return report(error.what());
  }
}

} // namespace

/// Registers pu's operators and CUDA's autocast policies, once a process.
/// @param message gets the reason of an error, @param capacity its size.
/// @returns how many operators go to CUDA, -1 after an error.
extern "C" int torch_pu_register(char* message, std::size_t capacity) {
  return reported(message, capacity, [] {
    static const int served = [] {
      torch_pu::let_cuda_go_backward();
      torch_pu::register_cast_policies();
      return torch_pu::register_operators();
    }();
    return served;
  });
}

/// Sets the autocast policy of an operator.
/// @param op such as "aten::mm", @param policy a number of CastPolicy.
/// @returns 0, or -1 after an error.
extern "C" int torch_pu_set_cast_policy(
    const char* op,
    int policy,
    char* message,
    std::size_t capacity) {
  return reported(message, capacity, [&] {
    torch_pu::set_cast_policy(op, static_cast<torch_pu::CastPolicy>(policy));
    return 0;
  });
}
