// cuDNN's work for streams.
#pragma once

#include <cudnn.h>

#include <functional>
#include <vector>

#include "runtime/libraries/dnn/array.h"
#include "runtime/libraries/dnn/status.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::dnn {

/// A tensor that work reads or writes.
struct Operand {
  Layout layout;
  const void* pointer;
  bool is_read = true;
};

/// What of a tensor's memory is read: not the gaps.
std::vector<stream_work::Read> reads_of(
    const Layout& layout,
    const void* pointer);

/// Puts work into the handle's stream.
/// @param function a string that lives as long as the process.
/// @param work may throw; the device is at fault then.
/// @throws Refusal: an operand lies out of bounds, or the host does not see the
/// device's memory.
void submit(
    const char* function,
    cudaStream_t stream,
    std::vector<Operand> operands,
    std::function<void()> work);

} // namespace accelerator::dnn
