// Gives work to streams.
#pragma once

#include <utility>

#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/core/streams/stream.h"

namespace accelerator::runtime {

/// Gives work to a stream, or, while the stream is captured, to its graph.
/// @throws Failure: errors of captures.
void submit(Stream& stream, Work work);

/// The kernel of a launch into a stream. One without code puts the stream's
/// device at fault and breaks the capture that the stream is in.
/// @throws Failure as Function::to_launch().
const KernelInfo& code_of_launch(Stream& stream, const KernelWork& work);

/// Checks a launch and gives it to a stream as submit() does.
/// @param work without parameters.
/// @param pack gives them, as the kernel reads them, for a KernelInfo.
/// @throws Failure as code_of_launch(), check_launch() and submit().
template <typename Pack>
void submit_launch(Stream& stream, KernelWork work, Pack&& pack) {
  const KernelInfo& info = code_of_launch(stream, work);
  check_launch(stream.device(), work);
  work.parameters = std::forward<Pack>(pack)(info);
  submit(stream, std::move(work));
}

} // namespace accelerator::runtime
