// Which type an operator computes in under autocast on pu.
#pragma once

#include <string>

namespace torch_pu {

/// PyTorch's policies (ATen/autocast_mode.h), and none.
enum class CastPolicy {
  None, // as without autocast
  LowerPrecision, // the type that autocast was given
  Float32,
  Float32OfDtype, // an optional argument `dtype` becomes float32
  Float32Appended, // an overload with `dtype` is called, with float32
  Promote, // the widest type among the arguments
  Banned, // an error that says what to write instead
};

/// Sets the policy of an operator, such as "aten::mm" or "aten::pow.Scalar",
/// in place of the one that it has. Throws for an operator that there is not.
void set_cast_policy(const std::string& op, CastPolicy policy);

/// Gives the operators of CUDA's lists CUDA's policies. Once a process.
void register_cast_policies();

} // namespace torch_pu
