#include "cudasim/device/machine/thread_state.h"

#include "cudasim/device/machine/device.h"
#include "cudasim/device/machine/machine.h"
#include "cudasim/device/streams/stream.h"

namespace cudasim::device {

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

} // namespace cudasim::device
