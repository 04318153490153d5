#include "cudasim/engine/device_runtime/grid_queue.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "cudasim/engine/code/kernel.h"

namespace cudasim::engine {
namespace {

constexpr std::uint64_t kBufferAlignment = 64; // of the guide

/// What the device has room for, whatever the program asks for.
constexpr std::uint64_t kMostOutstanding = 1 << 20;

/// No stream and no event of a process has the number of another one, so that
/// those of other grids are known for what they are.
std::uint64_t new_handle() {
  static std::atomic<std::uint64_t> last{0x10000};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Whether there are as many blocks and threads as a GPU takes (CUDA
/// programming guide, "Technical Specifications per Compute Capability").
bool is_configuration(const Dim3& grid, const Dim3& block) {
  return grid.count() > 0 && block.count() > 0 && grid.x <= 0x7fffffff &&
      grid.y <= 0xffff && grid.z <= 0xffff && block.x <= 1024 &&
      block.y <= 1024 && block.z <= 64 && block.count() <= 1024;
}

} // namespace

ParameterBuffers::ParameterBuffers() {
  void* const memory = mmap(
      nullptr,
      kBytes,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  memory_ = static_cast<std::byte*>(memory);
}

ParameterBuffers::~ParameterBuffers() {
  munmap(memory_, kBytes);
}

std::uint64_t ParameterBuffers::take(std::uint64_t bytes) {
  std::vector<std::uint64_t>& free = free_[bytes];
  if (!free.empty()) {
    const std::uint64_t buffer = free.back();
    free.pop_back();
    return buffer;
  }
  if (bytes > kBytes - used_) {
    return 0;
  }
  return begin() + std::exchange(used_, used_ + bytes);
}

void ParameterBuffers::give_back(std::uint64_t buffer, std::uint64_t bytes) {
  free_[bytes].push_back(buffer);
}

void ParameterBuffers::reset() {
  used_ = 0;
  free_.clear();
}

GridQueue::~GridQueue() {
  // What a fault has left.
  outstanding_ -= begun_.size() + in_order_.size() + tails_.size();
}

DeviceStatus GridQueue::check(const QueuedLaunch& launch) const {
  if (launch.kernel == nullptr) {
    return DeviceStatus::kInvalidDeviceFunction;
  }
  if (!is_configuration(launch.grid, launch.block)) {
    return DeviceStatus::kInvalidConfiguration;
  }
  const KernelInfo& info = launch.kernel->info;
  const Dim3& required = info.required_threads;
  const bool fits = required.count() == 0 ||
      (launch.block.x == required.x && launch.block.y == required.y &&
       launch.block.z == required.z);
  return launch.block.count() <= info.max_threads && fits &&
          info.static_shared_bytes + launch.dynamic_shared_bytes <=
              most_shared_bytes_
      ? DeviceStatus::kSuccess
      : DeviceStatus::kInvalidValue;
}

bool GridQueue::take_place(std::uint64_t limit) {
  if (outstanding_.fetch_add(1) >= std::min(limit, kMostOutstanding)) {
    outstanding_ -= 1;
    return false;
  }
  return true;
}

DeviceStatus GridQueue::begin(
    Begun begun,
    std::uint64_t limit,
    std::uint64_t* buffer) {
  const std::lock_guard lock(mutex_);
  if (!take_place(limit)) {
    return DeviceStatus::kLaunchPendingCountExceeded;
  }
  begun.bytes =
      (std::max<std::uint64_t>(begun.bytes, 1) + kBufferAlignment - 1) /
      kBufferAlignment * kBufferAlignment;
  *buffer = buffers_.take(begun.bytes);
  if (*buffer == 0) {
    outstanding_ -= 1;
    return DeviceStatus::kLaunchOutOfResources;
  }
  begun_.emplace(*buffer, std::move(begun));
  return DeviceStatus::kSuccess;
}

DeviceStatus GridQueue::begin_launch(
    QueuedLaunch launch,
    std::uint64_t limit,
    std::uint64_t* buffer) {
  const DeviceStatus status = check(launch);
  if (status != DeviceStatus::kSuccess) {
    return status;
  }
  Begun begun;
  begun.bytes = launch.kernel->info.parameter_bytes;
  begun.launch = std::move(launch);
  return begin(std::move(begun), limit, buffer);
}

DeviceStatus GridQueue::begin_launch(
    std::uint64_t bytes,
    std::uint64_t limit,
    std::uint64_t* buffer) {
  Begun begun;
  begun.bytes = bytes;
  return bytes > ParameterBuffers::kBytes
      ? DeviceStatus::kInvalidValue
      : begin(std::move(begun), limit, buffer);
}

DeviceStatus GridQueue::end_launch(
    std::uint64_t buffer,
    const QueuedLaunch* late,
    std::uint64_t stream,
    const GivingThread& thread) {
  const std::lock_guard lock(mutex_);
  const auto found = begun_.find(buffer);
  if (found == begun_.end() ||
      found->second.launch.has_value() == (late != nullptr)) {
    return DeviceStatus::kInvalidValue;
  }
  const std::uint64_t bytes = found->second.bytes;
  QueuedLaunch launch =
      late != nullptr ? *late : std::move(*found->second.launch);
  begun_.erase(found);
  DeviceStatus status = late != nullptr ? check(*late) : DeviceStatus::kSuccess;
  const bool is_tail = stream == kTailLaunchStream;
  if (status != DeviceStatus::kSuccess) {
  } else if (!is_stream(stream)) {
    status = DeviceStatus::kInvalidResourceHandle;
  } else if (!is_tail && depth_ >= kMostNesting) {
    status = DeviceStatus::kLaunchMaxDepthExceeded;
  } else if (launch.kernel->info.parameter_bytes > bytes) {
    status = DeviceStatus::kInvalidValue;
  }
  if (status == DeviceStatus::kSuccess) {
    const auto* const begin = reinterpret_cast<const std::byte*>(buffer);
    launch.parameters.assign(
        begin, begin + launch.kernel->info.parameter_bytes);
    (is_tail ? tails_ : in_order_)
        .push_back({std::move(launch), thread, is_tail});
  } else {
    outstanding_ -= 1;
  }
  buffers_.give_back(buffer, bytes);
  return status;
}

DeviceStatus GridQueue::copy(
    QueuedCopy copy,
    std::uint64_t stream,
    const GivingThread& thread) {
  const std::lock_guard lock(mutex_);
  if (!is_stream(stream)) {
    return DeviceStatus::kInvalidResourceHandle;
  }
  if (!take_place(kMostOutstanding)) {
    return DeviceStatus::kLaunchPendingCountExceeded;
  }
  const bool is_tail = stream == kTailLaunchStream;
  (is_tail ? tails_ : in_order_).push_back({copy, thread, is_tail});
  return DeviceStatus::kSuccess;
}

bool GridQueue::is_stream(std::uint64_t stream) const {
  return stream <= kFireAndForgetStream || streams_.count(stream) > 0;
}

std::uint64_t GridQueue::create_stream() {
  const std::lock_guard lock(mutex_);
  return *streams_.insert(new_handle()).first;
}

bool GridQueue::destroy_stream(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  return streams_.erase(stream) > 0;
}

std::uint64_t GridQueue::create_event() {
  const std::lock_guard lock(mutex_);
  return *events_.insert(new_handle()).first;
}

bool GridQueue::destroy_event(std::uint64_t event) {
  const std::lock_guard lock(mutex_);
  return events_.erase(event) > 0;
}

DeviceStatus GridQueue::uses_event(std::uint64_t stream, std::uint64_t event)
    const {
  const std::lock_guard lock(mutex_);
  if (stream == kTailLaunchStream || stream == kFireAndForgetStream) {
    return DeviceStatus::kInvalidValue;
  }
  return is_stream(stream) && events_.count(event) > 0
      ? DeviceStatus::kSuccess
      : DeviceStatus::kInvalidResourceHandle;
}

Queued GridQueue::next() {
  std::deque<Queued>& from = in_order_.empty() ? tails_ : in_order_;
  Queued first = std::move(from.front());
  from.pop_front();
  return first;
}

} // namespace cudasim::engine
