// Memory of the host through which ranks see what they cannot reach where it
// is: files without a name, which other processes map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/nccl/board.h"

namespace accelerator::nccl {

/// A file of zeros in memory, mapped.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Makes one for other processes.
  /// @throws Error: ncclSystemError.
  SharedMemory(std::uint64_t key, std::size_t bytes);
  /// Maps the one that another process shows.
  /// @throws Unreachable.
  explicit SharedMemory(const Exposure& exposure);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  void* memory() const {
    return memory_;
  }
  std::size_t bytes() const {
    return bytes_;
  }
  int file() const {
    return file_;
  }

 private:
  void map();

  int file_ = -1;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Memory of one rank for what it shows, and kept for the next operation.
class Staging {
 public:
  Staging();

  /// The slot-th piece of memory, of at least that many bytes. A piece that was
  /// smaller is gone then: an operation asks once for each slot.
  /// @param exposure gets how other ranks find it.
  /// @throws Error.
  void* get(std::size_t slot, std::size_t bytes, Exposure* exposure);

 private:
  struct Piece {
    std::uint64_t key = 0;
    SharedMemory memory;
  };
  std::uint64_t number_; // that no other has
  std::vector<Piece> pieces_;
};

/// What one rank has mapped of other processes' Staging.
class PeerStaging {
 public:
  /// @param exposure with a key.
  /// @throws Unreachable.
  void* reach(const Exposure& exposure);

 private:
  struct Piece {
    std::uint64_t key = 0;
    SharedMemory memory;
  };
  // By staging and slot.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Piece> pieces_;
};

} // namespace accelerator::nccl
