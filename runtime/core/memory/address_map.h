// All memory that programs were given, of all devices and the host, in one
// sorted map.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "runtime/core/backends/backends.h"

namespace accelerator::runtime {

/// An address as maps have it.
inline std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

/// What a piece of memory is.
enum class Space : std::uint8_t {
  kDevice, // cudaMalloc and friends
  kArray, // cudaMallocArray and friends
  kHost, // cudaHostAlloc
  kRegistered, // cudaHostRegister
  kManaged, // cudaMallocManaged
  kMapped, // cuMemMap
  kVariable, // of a module
  kImported, // cudaIpcOpenMemHandle
};

/// One piece of memory.
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; // one past the last byte
  std::uint64_t id = 0; // counts up, given by AddressMap
  Space space = Space::kDevice;
  int device = 0; // where it lives; for host memory: who asked for it
  unsigned flags = 0; // of the call that made it
  /// The library that gave it; null for the host's own.
  const accel_api* library = nullptr;
  /// Devices that may use it besides its own, a bit each (memory pools and
  /// virtual memory grant this; cudaMalloc's memory goes by peer access).
  std::uint64_t readers = 0;
  /// Whether calls that work on it wait (cuPointerSetAttribute).
  bool synchronous = false;

  std::uint64_t size() const {
    return end - begin;
  }
  bool on_host() const {
    return space == Space::kHost || space == Space::kRegistered ||
        space == Space::kManaged;
  }
};

class AddressMap {
 public:
  /// @param devices where they come from, in the program's order.
  explicit AddressMap(std::vector<Slot> devices);

  /// Where a device comes from, as the program counts.
  const Slot& slot(int device) const {
    return devices_[static_cast<std::size_t>(device)];
  }

  /// Enters a piece; its id is chosen here and returned.
  /// @throws Failure with cudaErrorInvalidValue when it overlaps another.
  std::uint64_t insert(Allocation allocation);
  /// Takes out the piece that begins there, if there is one.
  std::optional<Allocation> erase(std::uint64_t begin);
  /// The piece that holds the address.
  std::optional<Allocation> find(std::uint64_t address) const;
  /// Whether any piece overlaps [begin, end).
  bool overlaps(std::uint64_t begin, std::uint64_t end) const;
  /// Where all pieces of a device of that kind begin.
  std::vector<std::uint64_t> list(int device, Space space) const;
  /// Changes who may use the piece that begins there; false: there is none.
  bool set_readers(std::uint64_t begin, std::uint64_t readers);
  /// Changes whether calls that work on it wait; false: there is none.
  bool set_synchronous(std::uint64_t begin, bool synchronous);

  /// Counts memory of a device that has no address (cuMemCreate), or no longer.
  void count_in(int device, std::uint64_t bytes);
  void count_out(int device, std::uint64_t bytes);
  /// Keeps in `place` from now on how many bytes of a device are allocated:
  /// those of modules' variables too, imported ones not.
  void show_allocated(int device, std::atomic<std::uint64_t>& place);

  /// Whether the kernels of a device may use a piece.
  bool visible(const Allocation& allocation, int device) const;

  /// Whether the kernels of `from` can be let use the memory of `to`.
  bool can_be_peers(int from, int to) const;
  /// Lets the kernels of `from` use the memory of `to`, or no longer.
  void set_peer(int from, int to, bool enabled);
  bool peer(int from, int to) const;
  /// The kernels of `from` use the memory of no other device any more.
  void forget_peers(int from);

 private:
  // Bytes of a device, and where they are shown.
  struct Count {
    std::uint64_t bytes = 0;
    std::atomic<std::uint64_t>* place = nullptr;
  };

  // The mutex is held.
  void change_count(int device, std::uint64_t difference);

  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Allocation> pieces_; // by begin
  std::uint64_t next_id_ = 1;
  std::vector<Slot> devices_;
  std::vector<Count> counts_; // by device
  std::vector<std::atomic<bool>> peers_; // from * devices + to
};

} // namespace accelerator::runtime
