// A backend of process groups for PrivateUse1's tensors: another device's
// backend, and tensors that go there and back.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch_cuda::facade {

/// The tensors of one collective. Results come back on threads of the far
/// backend's, too.
class Collective {
 public:
  virtual ~Collective() = default;

  /// The far tensor of one of PrivateUse1's, over the same memory or a copy.
  virtual at::Tensor across(const at::Tensor& near) = 0;

  /// The tensor of PrivateUse1's for a far one; others as they are.
  virtual at::Tensor back(const at::Tensor& far) = 0;

  /// What the far backend reduces with where a program asks for `reduction`.
  /// @param written gets the results.
  virtual c10d::ReduceOp across(
      const c10d::ReduceOp& reduction,
      const std::vector<at::Tensor>& /*written*/) {
    return reduction;
  }

  /// Called when the far backend is done, maybe more than once, before anything
  /// comes back.
  virtual void finish() {}
};

/// @param type of the devices of `far`.
/// @param begin makes the tensors of a collective that begins.
c10::intrusive_ptr<c10d::Backend> make_process_group(
    std::string name,
    c10::DeviceType type,
    c10::intrusive_ptr<c10d::Backend> far,
    std::function<std::shared_ptr<Collective>()> begin);

/// The far backend of one that make_process_group() made, or null.
c10::intrusive_ptr<c10d::Backend> far_of(
    const c10::intrusive_ptr<c10d::Backend>& backend);

} // namespace torch_cuda::facade
