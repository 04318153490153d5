// Operators whose CUDA kernels have no deterministic form.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_cuda::operators {

/// What an operator's CUDA kernel says to a program that has asked for
/// deterministic algorithms alone (torch.use_deterministic_algorithms). The
/// host's kernel gives the same in each run, but such a program looks for what
/// would not on a GPU.
class Nondeterminism {
 public:
  explicit Nondeterminism(const c10::OperatorHandle& op);

  /// Whether the CUDA kernel may say something.
  bool any() const {
    return says_ != nullptr;
  }

  /// Throws or warns what the CUDA kernel does, by the program's setting.
  /// @param stack ends with the operator's arguments.
  void alert(const c10::FunctionSchema& schema, const torch::jit::Stack& stack)
      const;

 private:
  const char* says_ = nullptr;
  bool (*when_)(const c10::FunctionSchema&, const torch::jit::Stack&) = nullptr;
};

/// While it lives, this thread's calls of operators raise no such alerts: they
/// are part of an operator that has raised its own, or is deterministic.
class WithoutAlerts {
 public:
  WithoutAlerts();
  ~WithoutAlerts();
  WithoutAlerts(const WithoutAlerts&) = delete;
  WithoutAlerts& operator=(const WithoutAlerts&) = delete;

 private:
  bool before_;
};

} // namespace torch_cuda::operators
