#include "runtime/core/streams/work/submit.h"

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"

namespace accelerator::runtime {

std::atomic<Capturer*> the_capturer{nullptr};

namespace {

// Whether it has become a node.
template <typename Parts>
bool captured(Stream& stream, Parts& parts) {
  Capturer* const capturer = the_capturer.load(std::memory_order_acquire);
  if (capturer == nullptr) {
    return false;
  }
  StreamWork work = std::move(parts);
  if (capturer->take(stream, work)) {
    return true;
  }
  parts = std::move(std::get<Parts>(work));
  return false;
}

// @param kernel the work's, if it is a launch.
template <typename Parts, typename... Kernel>
void submit_parts(Stream& stream, Parts& work, const Kernel&... kernel) {
  if (captured(stream, work)) {
    return;
  }
  put(stream, kernel..., work, tracing::origin_of_work(stream.id()));
  if (machine().settings().launch_blocking) {
    stream.synchronize();
  }
}

} // namespace

void submit(Stream& stream, CopyWork work) {
  submit_parts(stream, work);
}

void submit(Stream& stream, FillWork work) {
  submit_parts(stream, work);
}

void submit(Stream& stream, HostWork work) {
  submit_parts(stream, work);
}

void submit(Stream& stream, const LoadedKernel& kernel, KernelWork work) {
  submit_parts(stream, work, kernel);
}

const LoadedKernel& code_of_launch(Stream& stream, const KernelWork& work) {
  try {
    return work.function->to_launch(stream.device());
  } catch (const Failure&) {
    if (Capturer* capturer = the_capturer.load(std::memory_order_acquire)) {
      capturer->lose(stream);
    }
    throw;
  }
}

} // namespace accelerator::runtime
