// The operators that are not served like all others, by name.
#pragma once

#include <ATen/core/operator_name.h>

namespace torch_cuda::operators {

/// Upstream's own CUDA kernel or composite needs no launch: it stays.
bool is_upstreams(const c10::OperatorName& name);

/// The CPU's kernel serves tensors of any device: it calls other operators.
bool is_general(const c10::OperatorName& name);

/// A composite that chooses CUDA's kernels by the device, or calls them past
/// the dispatcher: it is served as a whole.
bool is_routed_composite(const c10::OperatorName& name);

/// An operator that newer versions have as such a composite. Older ones make it
/// of other operators, with their derivatives.
bool is_routed_where_explicit(const c10::OperatorName& name);

/// The CPU's kernel asks which arguments require gradients.
bool asks_for_gradients(const c10::OperatorName& name);

/// The CPU's kernel asks by the addresses of references whether `out` is
/// `self`, which differ where it is called with values: then it makes `out`
/// larger where it had to refuse.
bool compares_references(const c10::OperatorName& name);

/// aten::copy_
bool is_copy(const c10::OperatorName& name);

} // namespace torch_cuda::operators
