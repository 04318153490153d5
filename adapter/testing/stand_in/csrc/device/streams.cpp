// Streams. A stream's number is 0 for the default one, its place in the pool
// for those, else the runtime's handle.
#include "c10/stand/StandStream.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandGuard.h"

namespace c10::stand {
namespace {

constexpr int kStreams = 32; // of each priority
constexpr int kMostDevices = 64;

// The streams of a device, made when they are first needed.
struct Pool {
  std::mutex mutex;
  std::array<standStream_t, 1 + 2 * kStreams> streams = {};
  std::array<std::atomic<uint32_t>, 2> next = {};
};

Pool& pool(DeviceIndex device) {
  static auto* pools = new std::array<Pool, kMostDevices>;
  TORCH_CHECK(
      device >= 0 && device < kMostDevices,
      "stand-in error: there is no device ",
      static_cast<int>(device));
  return (*pools)[device];
}

std::vector<StreamId>& current_ids() {
  static thread_local std::vector<StreamId> ids(kMostDevices, 0);
  return ids;
}

Stream stream_of(DeviceIndex device, StreamId id) {
  return Stream(Stream::UNSAFE, Device(DeviceType::PrivateUse1, device), id);
}

} // namespace

standStream_t StandStream::stream() const {
  const auto id = static_cast<size_t>(stream_.id());
  auto& own = pool(device_index());
  if (id >= own.streams.size()) {
    return reinterpret_cast<standStream_t>(id);
  }
  const std::lock_guard<std::mutex> lock(own.mutex);
  auto& stream = own.streams[id];
  if (!stream) {
    const StandGuard device(device_index());
    C10_STAND_CHECK(standStreamCreateWithPriority(
        &stream, standStreamNonBlocking, id > kStreams ? -1 : 0));
  }
  return stream;
}

bool StandStream::query() const {
  const auto error = standStreamQuery(stream());
  if (error == standErrorNotReady) {
    (void)standGetLastError();
    return false;
  }
  C10_STAND_CHECK(error);
  return true;
}

void StandStream::synchronize() const {
  C10_STAND_CHECK(standStreamSynchronize(stream()));
}

int StandStream::priority() const {
  int priority = 0;
  C10_STAND_CHECK(standStreamGetPriority(stream(), &priority));
  return priority;
}

StandStream getStreamFromPool(bool high_priority, DeviceIndex device) {
  device = device_or_current(device);
  const auto number = pool(device).next[high_priority]++ % kStreams;
  return StandStream(stream_of(
      device, 1 + (high_priority ? kStreams : 0) + static_cast<int>(number)));
}

StandStream getStreamFromExternal(standStream_t stream, DeviceIndex device) {
  return StandStream(stream_of(device, reinterpret_cast<StreamId>(stream)));
}

StandStream getDefaultStandStream(DeviceIndex device) {
  return StandStream(stream_of(device_or_current(device), 0));
}

StandStream getCurrentStandStream(DeviceIndex device) {
  device = device_or_current(device);
  return StandStream(stream_of(device, current_ids().at(device)));
}

void setCurrentStandStream(StandStream stream) {
  current_ids().at(stream.device_index()) = stream.id();
}

} // namespace c10::stand
