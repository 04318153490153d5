// Gives work to streams as programs do: now, or to a graph while the stream is
// captured.
#pragma once

#include <atomic>
#include <utility>

#include "runtime/core/streams/stream.h"
#include "runtime/core/streams/work/work.h"

namespace accelerator::runtime {

/// What makes nodes of a graph of the work of captured streams.
class Capturer {
 public:
  /// Takes work of a stream that is captured.
  /// @returns whether it is; `work` is moved from only then.
  /// @throws Failure: errors of captures.
  virtual bool take(Stream& stream, StreamWork& work) = 0;
  /// The capture that a stream is in, if any, lacks work that the program gave.
  virtual void lose(const Stream& stream) = 0;

 protected:
  ~Capturer() = default;
};

/// Null while no stream of the process is captured: no work pays for captures
/// then. Only read it; graphs/capture.h changes it.
extern std::atomic<Capturer*> the_capturer;

/// Gives work to a stream, or, while the stream is captured, to its graph.
/// @throws Failure: errors of captures.
void submit(Stream& stream, CopyWork work);
void submit(Stream& stream, FillWork work);
void submit(Stream& stream, HostWork work);

/// The same for a launch that check_launch() has let pass.
/// @param kernel the work's on the stream's device.
void submit(Stream& stream, const LoadedKernel& kernel, KernelWork work);

/// The kernel of a launch into a stream. One without code puts the stream's
/// device at fault and breaks the capture that the stream is in.
/// @throws Failure as Function::to_launch().
const LoadedKernel& code_of_launch(Stream& stream, const KernelWork& work);

/// Checks a launch and gives it to a stream as submit() does.
/// @param work without parameters.
/// @param pack gives them, as the kernel reads them, for a KernelInfo.
/// @throws Failure as code_of_launch(), check_launch() and submit().
template <typename Pack>
void submit_launch(Stream& stream, KernelWork work, Pack&& pack) {
  const LoadedKernel& kernel = code_of_launch(stream, work);
  check_launch(stream.device(), kernel.info, work);
  work.parameters = std::forward<Pack>(pack)(kernel.info);
  submit(stream, kernel, std::move(work));
}

} // namespace accelerator::runtime
