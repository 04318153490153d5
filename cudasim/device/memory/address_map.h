// All memory that kernels and copies may touch, of all devices and the host, in
// one sorted map, and what each device sees of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "cudasim/engine/memory/address_space.h"

namespace cudasim::device {

/// What a piece of memory is.
enum class Space : std::uint8_t {
  kDevice, // cudaMalloc and friends
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
  bool read_only = false;
  /// Devices that may use it besides its own, a bit each (memory pools and
  /// virtual memory grant this; cudaMalloc's memory goes by peer access).
  std::uint64_t readers = 0;
  std::string name; // of a variable

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
  explicit AddressMap(int devices);
  ~AddressMap();

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

  /// Whether the kernels of a device may use a piece.
  bool visible(const Allocation& allocation, int device) const;

  /// Lets the kernels of `from` use the memory of `to`, or no longer.
  void set_peer(int from, int to, bool enabled);
  bool peer(int from, int to) const;
  /// The kernels of `from` use the memory of no other device any more.
  void forget_peers(int from);

  /// What kernels of that device may touch.
  engine::AddressSpace& view(int device);

 private:
  class View;
  void changed();

  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Allocation> pieces_; // by begin
  std::uint64_t next_id_ = 1;
  int devices_;
  std::vector<std::atomic<bool>> peers_; // from * devices + to
  std::vector<std::unique_ptr<View>> views_;
};

} // namespace cudasim::device
