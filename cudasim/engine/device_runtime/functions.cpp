#include "cudasim/engine/device_runtime/functions.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "cudasim/engine/code/builtin.h"
#include "cudasim/engine/code/kernel.h"
#include "cudasim/engine/code/kernels.h"
#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/memory/address_space.h"

namespace cudasim::engine {
namespace {

using Status = DeviceStatus;

// driver_types.h
constexpr std::uint32_t kNonBlocking = 1; // cudaStreamNonBlocking
constexpr std::uint32_t kDisableTiming = 2; // cudaEventDisableTiming
constexpr std::uint32_t kDeviceToDevice = 3; // cudaMemcpyDeviceToDevice
constexpr std::uint32_t kDefaultDirection = 4; // cudaMemcpyDefault

/// The beginning of cudaFuncAttributes (driver_types.h), which is all that the
/// device runtime writes.
struct FunctionAttributes {
  std::uint64_t shared_bytes;
  std::uint64_t constant_bytes;
  std::uint64_t local_bytes;
  std::int32_t max_threads;
  std::int32_t registers;
  std::int32_t ptx_version;
  std::int32_t binary_version;
};

bool is_inside(
    std::uint64_t address,
    std::uint64_t bytes,
    const std::byte* begin,
    std::uint64_t size) {
  const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(begin);
  return offset < size && bytes <= size - offset;
}

/// Whether a lane may write there through a generic address.
bool is_writable(
    Warp& warp,
    int lane,
    std::uint64_t address,
    std::uint64_t bytes) {
  const Block& block = *warp.block;
  const std::byte* const local =
      warp.local_base + static_cast<std::uint64_t>(lane) * warp.local_size;
  return is_inside(address, bytes, block.shared, block.shared_bytes) ||
      is_inside(address, bytes, local, warp.local_size) ||
      find_range(warp, address, address + bytes, true);
}

/// One lane's call.
class Call {
 public:
  Call(
      Warp& warp,
      CallingBlock& block,
      const Dim3& size,
      const Inst& inst,
      const Control& control,
      int lane)
      : warp_(warp),
        block_(block),
        queue_(*block.queue),
        size_(size),
        inst_(inst),
        control_(control),
        lane_(lane) {}

  /// @returns false on a fault.
  bool run() {
    switch (control_.builtin) {
      case Builtin::kGetParameterBuffer:
        return give_buffer(get_buffer());
      case Builtin::kGetParameterBufferV2:
        return give_buffer(get_launch_buffer());
      case Builtin::kGetLastError:
      case Builtin::kPeekAtLastError:
        give(last_error());
        if (control_.builtin == Builtin::kGetLastError) {
          note(Status::kSuccess);
        }
        return true;
      case Builtin::kSetLastError:
        note(static_cast<Status>(argument<std::uint32_t>(0)));
        give(argument<std::uint32_t>(0));
        return true;
      default:
        return give_status(execute());
    }
  }

 private:
  Status execute() {
    switch (control_.builtin) {
      case Builtin::kLaunchDevice:
        return launch();
      case Builtin::kLaunchDeviceV2:
        return queue_.end_launch(word(0), nullptr, word(1), thread());
      case Builtin::kStreamCreate:
        return word(0) != 0 && argument<std::uint32_t>(1) == kNonBlocking
            ? write(word(0), queue_.create_stream())
            : Status::kInvalidValue;
      case Builtin::kStreamDestroy:
        return queue_.destroy_stream(word(0)) ? Status::kSuccess
                                              : Status::kInvalidResourceHandle;
      case Builtin::kStreamWaitEvent:
        return argument<std::uint32_t>(2) == 0
            ? queue_.uses_event(word(0), word(1))
            : Status::kInvalidValue;
      case Builtin::kEventCreate:
        return word(0) != 0 &&
                (argument<std::uint32_t>(1) & kDisableTiming) != 0
            ? write(word(0), queue_.create_event())
            : Status::kInvalidValue;
      case Builtin::kEventRecord:
        return queue_.uses_event(word(1), word(0));
      case Builtin::kEventDestroy:
        return queue_.destroy_event(word(0)) ? Status::kSuccess
                                             : Status::kInvalidResourceHandle;
      case Builtin::kMemcpy:
        return copy(
            {"cudaMemcpyAsync", word(0), 0, word(1), 0, 0, word(2), 1},
            argument<std::uint32_t>(3),
            word(4));
      case Builtin::kMemcpy2D:
        return copy(
            {"cudaMemcpy2DAsync",
             word(0),
             word(1),
             word(2),
             word(3),
             0,
             word(4),
             word(5)},
            argument<std::uint32_t>(6),
            word(7));
      case Builtin::kMemset:
        return fill(
            {"cudaMemsetAsync",
             word(0),
             0,
             0,
             0,
             argument<std::uint8_t>(1),
             word(2),
             1},
            word(3));
      case Builtin::kMemset2D:
        return fill(
            {"cudaMemset2DAsync",
             word(0),
             word(1),
             0,
             0,
             argument<std::uint8_t>(2),
             word(3),
             word(4)},
            word(5));
      case Builtin::kDeviceMalloc:
        return allocate();
      case Builtin::kDeviceFree:
        if (!heap().free(reinterpret_cast<void*>(word(0)))) {
          fail(FaultKind::kIllegalAddress, word(0), true);
        }
        return Status::kSuccess;
      case Builtin::kFuncGetAttributes:
        return function_attributes();
      default:
        return Status::kSuccess; // not here
    }
  }

  // What the caller has passed, and what it is given.

  template <typename T>
  T argument(std::size_t number) const {
    T value;
    std::memcpy(
        &value, frame() + control_.arguments.at(number).from, sizeof(T));
    return value;
  }
  std::uint64_t word(std::size_t number) const {
    return argument<std::uint64_t>(number);
  }
  std::byte* frame() const {
    return warp_.local_base +
        static_cast<std::uint64_t>(lane_) * warp_.local_size +
        warp_.local_frame;
  }
  template <typename T>
  void give(T value) const {
    if (!control_.results.empty()) {
      std::memcpy(frame() + control_.results[0].to, &value, sizeof(T));
    }
  }
  bool give_status(Status status) {
    if (status != Status::kSuccess) {
      note(status);
    }
    give(status);
    return !failed_;
  }
  bool give_buffer(Status status) {
    if (status != Status::kSuccess) {
      note(status);
    }
    give(buffer_);
    return !failed_;
  }

  /// Writes where the lane says.
  template <typename T>
  Status write(std::uint64_t address, const T& value) {
    if (is_writable(warp_, lane_, address, sizeof(T))) {
      std::memcpy(reinterpret_cast<void*>(address), &value, sizeof(T));
    } else {
      fail(FaultKind::kIllegalAddress, address, true, sizeof(T));
    }
    return Status::kSuccess;
  }

  void fail(
      FaultKind kind,
      std::uint64_t address,
      bool is_write,
      std::uint32_t bytes = 0) {
    access_fault(warp_, inst_, kind, lane_, address, bytes, is_write);
    failed_ = true;
  }

  // The thread.

  std::uint32_t index() const {
    return warp_.index * kLanes + static_cast<std::uint32_t>(lane_);
  }
  GivingThread thread() const {
    const Block& block = *warp_.block;
    return {
        block.kernel_name,
        {block.index[0], block.index[1], block.index[2]},
        {index() % size_.x,
         index() / size_.x % size_.y,
         index() / size_.x / size_.y}};
  }
  Status last_error() const {
    return block_.last_errors.empty() ? Status::kSuccess
                                      : block_.last_errors[index()];
  }
  void note(Status status) {
    if (block_.last_errors.empty()) {
      if (status == Status::kSuccess) {
        return;
      }
      block_.last_errors.resize(size_.count());
    }
    block_.last_errors[index()] = status;
  }

  // The functions.

  /// The kernel with that address; null where there is none. One that cannot be
  /// made ready is a fault.
  const Kernel* kernel_at(std::uint64_t address) {
    try {
      return queue_.kernels().kernel_at(address);
    } catch (const std::runtime_error& error) {
      block_.message = error.what();
      fail(FaultKind::kUnsupported, address, false);
      warp_.fault.detail = block_.message.c_str();
      return nullptr;
    }
  }

  Dim3 extents(std::size_t number) const {
    return argument<Dim3>(number);
  }

  Status get_buffer() {
    const std::uint64_t alignment = word(0);
    return alignment > 64 || (alignment & (alignment - 1)) != 0
        ? Status::kInvalidValue
        : queue_.begin_launch(word(1), word(2), &buffer_);
  }
  Status get_launch_buffer() {
    QueuedLaunch launch;
    launch.kernel = kernel_at(word(0));
    launch.grid = extents(1);
    launch.block = extents(2);
    launch.dynamic_shared_bytes = argument<std::uint32_t>(3);
    return failed_ ? Status::kSuccess
                   : queue_.begin_launch(launch, word(4), &buffer_);
  }
  Status launch() {
    QueuedLaunch launch;
    launch.kernel = kernel_at(word(0));
    launch.grid = extents(2);
    launch.block = extents(3);
    launch.dynamic_shared_bytes = argument<std::uint32_t>(4);
    return failed_ ? Status::kSuccess
                   : queue_.end_launch(word(1), &launch, word(5), thread());
  }

  Status copy(
      const QueuedCopy& copy,
      std::uint32_t direction,
      std::uint64_t stream) {
    if (copy.width == 0 || copy.height == 0) {
      return Status::kSuccess;
    }
    if (direction != kDeviceToDevice && direction != kDefaultDirection) {
      return Status::kInvalidMemcpyDirection;
    }
    return is_of_device(copy.from) ? give(copy, stream) : Status::kInvalidValue;
  }
  Status fill(const QueuedCopy& fill, std::uint64_t stream) {
    return fill.width == 0 || fill.height == 0 ? Status::kSuccess
                                               : give(fill, stream);
  }
  Status give(const QueuedCopy& copy, std::uint64_t stream) {
    if (!is_of_device(copy.to)) {
      return Status::kInvalidValue;
    }
    const bool wide = copy.height > 1 &&
        (copy.width > copy.to_pitch ||
         (copy.from != 0 && copy.width > copy.from_pitch));
    return wide ? Status::kInvalidPitchValue
                : queue_.copy(copy, stream, thread());
  }
  /// Local and shared memory are not there when the copy runs.
  bool is_of_device(std::uint64_t address) const {
    const Block& block = *warp_.block;
    return address != 0 &&
        !is_inside(address, 1, block.shared, block.shared_bytes) &&
        !is_inside(address, 1, warp_.local_base, kLanes * warp_.local_size);
  }

  DeviceHeap& heap() const {
    return static_cast<const AddressSpace*>(warp_.block->memory)->heap();
  }
  Status allocate() {
    if (word(0) == 0 || word(1) == 0) {
      return Status::kInvalidValue;
    }
    void* const memory = heap().allocate(word(1));
    return memory == nullptr ? Status::kMemoryAllocation
                             : write(word(0), memory);
  }

  Status function_attributes() {
    if (word(0) == 0 || word(1) == 0) {
      return Status::kInvalidValue;
    }
    const Kernel* const kernel = kernel_at(word(1));
    if (kernel == nullptr) {
      return failed_ ? Status::kSuccess : Status::kInvalidDeviceFunction;
    }
    const KernelInfo& info = kernel->info;
    FunctionAttributes attributes{};
    attributes.shared_bytes = info.static_shared_bytes;
    attributes.constant_bytes = info.constant_bytes;
    attributes.local_bytes = info.local_bytes;
    attributes.max_threads = static_cast<std::int32_t>(info.max_threads);
    attributes.registers = static_cast<std::int32_t>(info.registers);
    attributes.ptx_version = static_cast<std::int32_t>(info.ptx_target);
    attributes.binary_version =
        static_cast<std::int32_t>(block_.compute_capability);
    return write(word(0), attributes);
  }

  Warp& warp_;
  CallingBlock& block_;
  GridQueue& queue_;
  const Dim3& size_;
  const Inst& inst_;
  const Control& control_;
  int lane_;
  std::uint64_t buffer_ = 0; // what GetParameterBuffer gives
  bool failed_ = false;
};

} // namespace

bool call_device_runtime(
    Warp& warp,
    CallingBlock& block,
    const Dim3& size,
    const Inst& inst,
    const Control& control,
    Mask active) {
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (!Call(warp, block, size, inst, control, lane).run()) {
      return false;
    }
  }
  return true;
}

} // namespace cudasim::engine
