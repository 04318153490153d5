// Operators that no graph can have a part of.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

namespace torch_cuda::operators {

/// Whether a result's shape, or a result that is no tensor, depends on what the
/// tensors hold, so that a call of the operator has to wait for them.
bool depends_on_data(
    const c10::OperatorHandle& op,
    c10::ArrayRef<c10::IValue> arguments);

/// Whether CUDA's kernel has the host wait for the device, which programs can
/// ask to be told (`torch.cuda.set_sync_debug_mode`).
bool synchronizes(
    const c10::OperatorHandle& op,
    c10::ArrayRef<c10::IValue> arguments);

/// Whether it depends on what the tensors hold how many numbers an operator
/// draws.
bool draws_by_data(const c10::OperatorName& name);

} // namespace torch_cuda::operators
