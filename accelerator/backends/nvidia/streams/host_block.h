// A block of pinned memory that a stream has: a number that the device waits
// for, and room for what is copied from and to memory that is not pinned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace accelerator::nvidia {

class HostBlock {
 public:
  static constexpr std::size_t kRoom = std::size_t{1} << 20; // bytes

  explicit HostBlock(void* memory) : memory_(memory) {}
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  /// The last callback that is done, which the device reads.
  std::atomic<std::uint32_t>& done() const {
    return *static_cast<std::atomic<std::uint32_t>*>(memory_);
  }
  char* room() const {
    return static_cast<char*>(memory_) + 4096;
  }

 private:
  void* memory_;
};

/// A block of those that were used before, or from the driver; `done` is 0. A
/// context is current.
/// @throws Error
std::shared_ptr<HostBlock> take_host_block();

} // namespace accelerator::nvidia
