#include "runtime/core/machine/thread_state.h"

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/streams/stream.h"

namespace accelerator::runtime {

ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}

ThreadState::~ThreadState() {
  for (const auto& stream : streams) {
    if (stream != nullptr) {
      try {
        machine().streams().remove(stream.get());
        stream->device().remove_stream(*stream);
      } catch (const Failure&) {
        // In a forked child there is nothing to end.
      }
    }
  }
}

} // namespace accelerator::runtime
