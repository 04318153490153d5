// All memory that kernels may touch, of all devices and the host, in one sorted
// map, and what each device sees of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "cudasim/engine/memory/address_space.h"

namespace cudasim::backend {

/// Bytes, of a page of the host's.
inline constexpr std::uint64_t kPage = 4096;

/// An address as maps have it.
inline std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

/// One piece of memory.
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; // one past the last byte
  std::uint64_t id = 0; // counts up, given by AddressMap
  int device = 0; // where it lives; ACCEL_HOST: all devices use it
  bool read_only = false;
  /// Bytes behind the end that kernels may read (CUDASIM_PADDING=read).
  std::uint64_t padding = 0;
  /// Whether only `readers` may use it, whatever device it is on.
  bool guarded = false;
  /// Devices that may use it besides its own, a bit each.
  std::uint64_t readers = 0;

  std::uint64_t size() const {
    return end - begin;
  }
};

class AddressMap {
 public:
  explicit AddressMap(int devices);
  ~AddressMap();

  /// Enters a piece; its id is chosen here and returned.
  /// @throws Error with ACCEL_ALREADY when it overlaps another.
  std::uint64_t insert(Allocation allocation);
  /// Takes out the piece that begins there, if there is one.
  std::optional<Allocation> erase(std::uint64_t begin);
  /// The piece that holds the address.
  std::optional<Allocation> find(std::uint64_t address) const;
  /// Lets a device use the piece that begins there, or no longer; false: there
  /// is none.
  bool set_reader(std::uint64_t begin, int device, bool allowed);

  /// Lets the kernels of `from` use the memory of `to`, or no longer.
  void set_peer(int from, int to, bool enabled);
  /// The kernels of `from` use the memory of no other device any more.
  void forget_peers(int from);

  /// What kernels of that device may touch.
  engine::AddressSpace& view(int device);

 private:
  class View;
  bool visible(const Allocation& allocation, int device) const;
  bool peer(int from, int to) const;
  void changed();

  mutable std::shared_mutex mutex_;
  mutable std::mutex reporting_;
  mutable std::set<std::string> kernels_; // that have read padding
  std::map<std::uint64_t, Allocation> pieces_; // by begin
  std::uint64_t next_id_ = 1;
  int devices_;
  std::vector<std::atomic<bool>> peers_; // from * devices + to
  std::vector<std::unique_ptr<View>> views_;
};

} // namespace cudasim::backend
