// What the threads of one grid give the device to do: launches of kernels,
// copies and fills. Source: CUDA programming guide, "CUDA Dynamic Parallelism".
//
// All of it runs one after the other when the grid's blocks have ended, in the
// order in which it was given. That is one of the orders that the rules allow:
// a stream's work is in order, what waits for an event comes behind what the
// event was recorded behind, and no kernel may count on another that runs at
// the same time. Only what is in the tail stream comes behind all other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "cudasim/engine/code/dim3.h"

namespace cudasim::engine {

class Kernel;
class Kernels; // code/kernels.h

/// The numbers of CUDA's statuses (driver_types.h) that threads are told.
enum class DeviceStatus : std::uint32_t {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidMemcpyDirection = 21,
  kLaunchMaxDepthExceeded = 65,
  kLaunchPendingCountExceeded = 69,
  kInvalidDeviceFunction = 98,
  kInvalidResourceHandle = 400,
  kLaunchOutOfResources = 701,
};

/// Streams that every grid has (driver_types.h, cuda_device_runtime_api.h).
inline constexpr std::uint64_t kNullStream = 0;
inline constexpr std::uint64_t kLegacyStream = 1;
inline constexpr std::uint64_t kThreadStream = 2;
inline constexpr std::uint64_t kTailLaunchStream = 3;
inline constexpr std::uint64_t kFireAndForgetStream = 4;

/// How deep grids may be nested below one that the host has launched.
inline constexpr unsigned kMostNesting = 24;

/// The thread that gave something, for reports.
struct GivingThread {
  const char* kernel = ""; // its name
  std::array<std::uint32_t, 3> block{};
  std::array<std::uint32_t, 3> thread{};
};

struct QueuedLaunch {
  const Kernel* kernel = nullptr;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
};

/// A copy, or a fill where there is no source.
struct QueuedCopy {
  const char* function = ""; // which one, for reports
  std::uint64_t to = 0;
  std::uint64_t to_pitch = 0; // bytes from row to row
  std::uint64_t from = 0; // 0: a fill
  std::uint64_t from_pitch = 0;
  std::uint8_t value = 0; // of the fill
  std::uint64_t width = 0; // bytes
  std::uint64_t height = 0; // rows
};

struct Queued {
  std::variant<QueuedLaunch, QueuedCopy> work;
  GivingThread thread;
  bool is_tail = false;
};

/// How much a launch of the host's and all that its kernels launch have given
/// and not completed.
using Outstanding = std::atomic<std::uint64_t>;

/// Memory for parameters that threads have asked for and not given a kernel
/// yet. Of the grids that one launch leads to one runs at a time, and all use
/// the same. Not thread-safe.
class ParameterBuffers {
 public:
  /// @throws std::bad_alloc
  ParameterBuffers();
  ~ParameterBuffers();
  ParameterBuffers(const ParameterBuffers&) = delete;
  ParameterBuffers& operator=(const ParameterBuffers&) = delete;

  /// All of it, which kernels may read and write.
  std::uint64_t begin() const {
    return reinterpret_cast<std::uint64_t>(memory_);
  }
  static constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;

  /// A piece that is aligned to 64 bytes; 0 when there is no room.
  std::uint64_t take(std::uint64_t bytes);
  void give_back(std::uint64_t buffer, std::uint64_t bytes);
  /// For the next grid.
  void reset();

 private:
  std::byte* memory_ = nullptr;
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_; // by size
};

/// What the threads of one grid have given. Thread-safe while the grid runs.
class GridQueue {
 public:
  /// @param kernels that can be launched.
  /// @param depth how many grids are above this one.
  /// @param most_shared_bytes that a block may have.
  /// @param outstanding of the host's launch above all.
  /// @param buffers while the grid's blocks run.
  GridQueue(
      Kernels& kernels,
      unsigned depth,
      std::uint64_t most_shared_bytes,
      Outstanding& outstanding,
      ParameterBuffers& buffers)
      : kernels_(kernels),
        depth_(depth),
        most_shared_bytes_(most_shared_bytes),
        outstanding_(outstanding),
        buffers_(buffers) {}
  ~GridQueue();
  GridQueue(const GridQueue&) = delete;
  GridQueue& operator=(const GridQueue&) = delete;

  Kernels& kernels() const {
    return kernels_;
  }
  unsigned depth() const {
    return depth_;
  }
  ParameterBuffers& buffers() const {
    return buffers_;
  }

  /// A launch without its parameters, which are to be written to *buffer.
  /// @param limit how many launches may be outstanding.
  DeviceStatus begin_launch(
      QueuedLaunch launch,
      std::uint64_t limit,
      std::uint64_t* buffer);
  /// A buffer for a launch that is told later.
  DeviceStatus begin_launch(
      std::uint64_t bytes,
      std::uint64_t limit,
      std::uint64_t* buffer);
  /// Gives the launch that was begun with that buffer.
  /// @param late what begin_launch() was not told; null: it was.
  DeviceStatus end_launch(
      std::uint64_t buffer,
      const QueuedLaunch* late,
      std::uint64_t stream,
      const GivingThread& thread);
  DeviceStatus copy(
      QueuedCopy copy,
      std::uint64_t stream,
      const GivingThread& thread);

  std::uint64_t create_stream();
  bool destroy_stream(std::uint64_t stream);
  std::uint64_t create_event();
  bool destroy_event(std::uint64_t event);
  /// For recording an event in a stream, or making the stream wait for it; the
  /// order in which all runs does the rest.
  DeviceStatus uses_event(std::uint64_t stream, std::uint64_t event) const;

  /// What is to run next, once the grid's blocks have ended and while there is
  /// anything. Counts as outstanding until the caller says otherwise.
  Queued next();
  bool is_empty() const {
    return in_order_.empty() && tails_.empty();
  }

 private:
  struct Begun {
    std::optional<QueuedLaunch> launch;
    std::uint64_t bytes = 0; // of the buffer
  };

  DeviceStatus check(const QueuedLaunch& launch) const;
  bool take_place(std::uint64_t limit);
  DeviceStatus begin(Begun begun, std::uint64_t limit, std::uint64_t* buffer);
  bool is_stream(std::uint64_t stream) const;

  Kernels& kernels_;
  unsigned depth_;
  std::uint64_t most_shared_bytes_;
  Outstanding& outstanding_;
  mutable std::mutex mutex_;
  ParameterBuffers& buffers_;
  std::map<std::uint64_t, Begun> begun_; // by buffer
  std::set<std::uint64_t> streams_;
  std::set<std::uint64_t> events_;
  std::deque<Queued> in_order_;
  std::deque<Queued> tails_;
};

} // namespace cudasim::engine
