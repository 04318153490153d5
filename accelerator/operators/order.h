// The order of a stream, for kernels that run on the host.
#pragma once

#include <ATen/core/operator_name.h>
#include <c10/core/Device.h>

namespace torch_cuda::operators {

/// Returns when what was given to the current stream of a device is done, so
/// that a kernel of the CPU may touch its memory. The kernel itself is done
/// when its call returns; what is given to the stream afterwards comes after
/// it.
///
/// Throws for a stream that is being captured: nothing may wait for it, and
/// what runs on the host at once would be missing in the graph.
void wait_for_current_stream(
    c10::DeviceIndex device,
    const c10::OperatorName& op);

} // namespace torch_cuda::operators
