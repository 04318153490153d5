// Memory pools: allocation and freeing in the order of a stream.
#pragma once

#include <driver_types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {

class Device;
class Memory;
class StreamSet;

/// cudaMemAllocationTypeManaged, which CUDA 12.4's header lacks.
constexpr int kManagedAllocations = 2;

/// A pool takes from its device's memory, or managed memory, and gives back at
/// once what is freed: it holds no reserve, so a release threshold is only
/// kept.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// Whether other processes take part.
  enum class Sharing : std::uint8_t {
    kNone,
    kExportable,
    kImported, // nothing is allocated from it here
  };

  /// @param memory and @param streams of the device,
  /// @param most how many bytes may be in use; 0: what the device has,
  /// @param managed where managed memory is preferred to be; none: it is of
  /// the device's memory.
  MemoryPool(
      Device& device,
      Memory& memory,
      StreamSet& streams,
      Sharing sharing = Sharing::kNone,
      std::uint64_t most = 0,
      std::optional<cudaMemLocation> managed = {})
      : device_(device),
        memory_(memory),
        streams_(streams),
        sharing_(sharing),
        most_(most),
        managed_(managed) {}

  Sharing sharing() const {
    return sharing_;
  }

  Device& device() const {
    return device_;
  }
  bool managed() const {
    return managed_.has_value();
  }

  /// Allocates. When memory is short it first waits for frees that are still in
  /// streams, as CUDA does by default.
  /// @throws Failure with cudaErrorMemoryAllocation.
  void* allocate(std::size_t bytes);
  /// Frees now what this pool gave.
  /// @throws Failure with cudaErrorInvalidValue.
  void release(void* memory);

  /// Reads an attribute into *value (int or cuuint64_t, by attribute).
  void get(cudaMemPoolAttr attribute, void* value) const;
  void set(cudaMemPoolAttr attribute, const void* value);

  /// cudaMemPoolSetAccess for one device; holds for what is allocated later and
  /// for what is there. All devices have access to managed memory.
  void set_access(int device, cudaMemAccessFlags flags);
  cudaMemAccessFlags access(int device) const;

 private:
  friend void forget_pools_of(const Device& device);
  void share(std::uint64_t begin, std::uint64_t readers) const;
  std::uint64_t take(std::size_t bytes);
  // What a pool was made with, which CUDA 13 asks for by attributes that the
  // header lacks; false for others.
  bool get_property(int attribute, void* value) const;

  Device& device_;
  Memory& memory_;
  StreamSet& streams_;
  const Sharing sharing_;
  const std::uint64_t most_;
  const std::optional<cudaMemLocation> managed_;
  std::atomic<std::uint64_t> release_threshold_{0};
  std::atomic<int> reuse_follow_event_{1};
  std::atomic<int> reuse_opportunistic_{1};
  std::atomic<int> reuse_internal_{1};
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> used_high_{0};
  std::atomic<std::uint64_t> readers_{0}; // a bit for each other device
};

/// The pool that memory was taken from, also when it is destroyed; null for
/// memory that is of none, or freed.
std::shared_ptr<MemoryPool> pool_of(const void* memory);

/// For a device that is reset: what its pools gave is gone.
void forget_pools_of(const Device& device);

} // namespace accelerator::runtime
