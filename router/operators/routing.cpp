// Registrations at the keys of CUDA's tensors.
#include "router/operators/routing.h"

#include "router/aliasing/operators.h"
#include "router/operators/calls/boxed_call.h"
#include "router/operators/calls/lists.h"
#include "router/operators/copy.h"
#include "router/operators/dispatch/arrivals.h"
#include "router/operators/dispatch/devices.h"
#include "router/operators/dispatch/names.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/factories.h"
#include "router/operators/kernels/attention.h"
#include "router/operators/kernels/attention/own.h"
#include "router/operators/kernels/attention/scaled_dot_product.h"
#include "router/operators/kernels/cuda_only.h"
#include "router/operators/kernels/cudnn/ctc_loss.h"
#include "router/operators/kernels/cudnn/cudnn.h"
#include "router/operators/kernels/cudnn/cudnn_rnn.h"
#include "router/operators/kernels/dropout.h"
#include "router/operators/kernels/flatten_indices.h"
#include "router/operators/kernels/more_types.h"
#include "router/operators/kernels/products/cusparselt.h"
#include "router/operators/kernels/products/packed_weights.h"
#include "router/operators/kernels/products/products.h"
#include "router/operators/kernels/products/scaled_groups.h"
#include "router/operators/kernels/products/scaled_products.h"
#include "router/operators/kernels/products/semi_structured.h"
#include "router/operators/kernels/recurrent/lstm_layers.h"
#include "router/operators/kernels/recurrent/recurrent.h"
#include "router/operators/kernels/rms_norm.h"
#include "router/operators/kernels/softmax.h"
#include "router/operators/kernels/unsigned_numbers.h"
#include "router/operators/tensors/device_memory.h"
#include "router/operators/vendor/install.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace torch_cuda::operators {
namespace {

using c10::DispatchKey;

class RoutedKernel final : public c10::OperatorKernel {
 public:
  RoutedKernel(const c10::OperatorHandle& op, DispatchKey target)
      : call_(op, target) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    call_(op, stack);
  }

 private:
  HostCall call_;
};

// A composite serves the CPU, and what it is built of does not do on CUDA:
// there it has a kernel of its own, or asks for one by the device.
bool is_composites(const c10::OperatorHandle& op, DispatchKey key) {
  if (is_copy(op.operator_name()) && key == DispatchKey::QuantizedCUDA) {
    return true;
  }
  if (is_routed_composite(op.operator_name())) {
    return key == DispatchKey::CUDA;
  }
  const bool routed = is_routed_where_explicit(op.operator_name())
      ? key == DispatchKey::CUDA
      : op.hasKernelForDispatchKey(key);
  return routed && aliasing::is_explicit_composite(op);
}

// What has neither a kernel of the CPU nor other operators that it is made of.
// Other libraries' operators may do without a launch.
bool is_cuda_code_alone(const c10::OperatorHandle& op, DispatchKey key) {
  return is_pytorchs_code(op.operator_name()) &&
      op.hasKernelForDispatchKey(key) && !is_upstreams(op.operator_name()) &&
      !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
      !aliasing::is_explicit_composite(op);
}

// PyTorch warns, once, that kernels are registered over others. That is meant.
class Silent final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& /*warning*/) override {}
};

class Router {
 public:
  /// Routes the operators that it has not seen yet.
  int route() {
    const std::lock_guard lock(mutex_); // ctypes lets other threads in
    routed_ = 0;
    const auto arrivals = take_arrivals();
    for (const auto& name : arrivals.gone) {
      seen_.erase(name); // another of this name may come
    }
    if (!arrivals.any) {
      return 0;
    }
    for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
      const auto op = c10::Dispatcher::singleton().findOp(name);
      if (!op || !op->hasSchema() || !seen_.insert(name).second) {
        continue;
      }
      for (const auto layout : aliasing::kLayouts) {
        route(
            *op,
            aliasing::key_of(layout, c10::BackendComponent::CUDABit),
            aliasing::key_of(layout, c10::BackendComponent::CPUBit));
      }
    }
    return routed_;
  }

 private:
  void route(
      const c10::OperatorHandle& op,
      DispatchKey key,
      DispatchKey target) {
    if (!op.hasKernelForDispatchKey(target) && !is_composites(op, key)) {
      if (is_cuda_code_alone(op, key)) {
        refuse(op, key);
      }
      return;
    }
    // What is outside of the build's profile has no kernel that could stay.
    if (is_upstreams(op.operator_name()) && op.hasKernelForDispatchKey(key)) {
      return;
    }
    if (is_copy(op.operator_name()) &&
        (key == DispatchKey::CUDA || key == DispatchKey::QuantizedCUDA)) {
      register_for_all(
          op, key, boxed(std::make_unique<CopyKernel>(op, target)));
      return;
    }
    if (aliasing::returns_view(op.schema()) || is_general(op.operator_name())) {
      if (!op.hasKernelForDispatchKey(key)) {
        register_for_all(op, key, aliasing::kernel_of(target));
      }
      return;
    }
    routed_ += register_kernel(op, key, kernel(op, key, target)) ? 1 : 0;
  }

  static c10::KernelFunction kernel(
      const c10::OperatorHandle& op,
      DispatchKey key,
      DispatchKey target) {
    if (key == DispatchKey::CUDA && is_softmax(op.operator_name())) {
      return softmax_kernel(op, target);
    }
    if (key == DispatchKey::CUDA && takes_unsigned_number(op.operator_name())) {
      return unsigned_number_kernel(op, target);
    }
    if (key == DispatchKey::CUDA && has_more_types(op.operator_name())) {
      return more_types_kernel(op, target);
    }
    return boxed(std::make_unique<RoutedKernel>(op, target));
  }

  std::mutex mutex_;
  int routed_ = 0;
  std::unordered_set<c10::OperatorName> seen_;
};

Router& router() {
  static auto* one = new Router;
  return *one;
}

std::atomic<bool> is_routing = false;

} // namespace

int route() {
  static const int routed = [] {
    Silent silent;
    const c10::WarningUtils::WarningHandlerGuard quiet(&silent);
    int count = 0;
    if (!all_serve_themselves()) {
      install_host_allocator();
      if (!has_upstreams_kernels()) {
        register_factories();
      }
      count = router().route();
      is_routing = true;
      route_copies_past_the_router();
      route_flatten_indices();
      route_attention();
      route_dropout();
      route_recurrent();
      route_cuda_only();
      route_cudnn();
      route_cudnn_rnn();
      route_ctc_loss();
      attention::route_scaled_dot_product();
      attention::route_own();
      route_lstm_layers();
      route_packed_weights();
      route_products();
      route_scaled_products();
      route_scaled_groups();
      route_semi_structured();
      route_cusparselt();
      route_rms_norm();
    }
    // Over all others.
    return count + vendor::install();
  }();
  return routed;
}

int route_new() {
  if (!is_routing) {
    return 0;
  }
  Silent silent;
  const c10::WarningUtils::WarningHandlerGuard quiet(&silent);
  return router().route();
}

namespace {

int reported(int (*work)(), char* message, std::size_t capacity) {
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
} // namespace torch_cuda::operators

int torch_cuda_route_operators(char* message, std::size_t capacity) {
  return torch_cuda::operators::reported(
      torch_cuda::operators::route, message, capacity);
}

int torch_cuda_route_new_operators(char* message, std::size_t capacity) {
  return torch_cuda::operators::reported(
      torch_cuda::operators::route_new, message, capacity);
}
