// One operator of CUDA tensors, served by the CPU's kernel on the same memory.
#pragma once

#include "router/aliasing/crossing.h"
#include "router/operators/calls/lacked_types.h"
#include "router/operators/calls/nondeterminism.h"
#include "router/operators/tensors/write_back.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace torch_cuda::operators {

/// A kernel of ours for the CPU's tensors: takes the operator's arguments from
/// the stack and puts the results on it.
using HostKernel = void (*)(torch::jit::Stack*);

/// What there is to know about an operator before it is called.
class HostCall {
 public:
  /// `target` is the CPU's side of the key that the operator was called for.
  /// `kernel` serves it in the place of the CPU's own.
  HostCall(
      const c10::OperatorHandle& op,
      c10::DispatchKey target,
      HostKernel kernel = nullptr);

  /// Takes the arguments from the stack and puts the results on it. While the
  /// device's stream is captured, the call becomes part of the graph.
  void operator()(const c10::OperatorHandle& op, torch::jit::Stack* stack)
      const;

 private:
  /// Throws upstream's error for tensors that are not where they have to be.
  [[noreturn]] void refuse(
      const c10::OperatorHandle& op,
      const torch::jit::Stack& stack,
      c10::Device expected,
      c10::Device found) const;
  /// Throws where CUDA has no kernel for the type of the first tensor. Of empty
  /// tensors many of CUDA's kernels take all types.
  void refuse_lacked_type(
      const c10::OperatorHandle& op,
      const torch::jit::Stack& stack) const;
  /// Moves what may be on other devices to the call's.
  void move(torch::jit::Stack* stack, c10::Device device) const;
  void serve(
      const c10::OperatorHandle& op,
      torch::jit::Stack* stack,
      c10::Device device) const;
  void run(
      const c10::OperatorHandle& op,
      torch::jit::Stack* stack,
      c10::Device device) const;

  void wait_for_others(const torch::jit::Stack& stack, c10::Device device)
      const;

  bool can_be_captured(
      const c10::OperatorHandle& op,
      const torch::jit::Stack& stack) const;
  void record(
      const c10::OperatorHandle& op,
      torch::jit::Stack* stack,
      c10::Device device) const;

  static void call_kernel(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet target,
      HostKernel kernel,
      torch::jit::Stack* stack);

  c10::DispatchKeySet target_;
  HostKernel kernel_;
  aliasing::Crossing crossing_;
  Writes writes_;
  LackedTypes lacked_types_;
  Nondeterminism nondeterminism_;
  bool asks_for_gradients_;
  bool out_may_be_self_;
  bool one_by_one_;
  // Whether tensors of other devices may be among the arguments.
  bool several_devices_ = false;
};

} // namespace torch_cuda::operators
