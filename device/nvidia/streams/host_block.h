// A block of pinned memory that a stream has: room for what is copied from and
// to memory that is not pinned.
#pragma once

#include <cstddef>
#include <memory>

namespace accelerator::nvidia {

class HostBlock {
 public:
  static constexpr std::size_t kRoom = std::size_t{1} << 20; // bytes

  explicit HostBlock(void* memory) : memory_(memory) {}
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  char* room() const {
    return static_cast<char*>(memory_);
  }

 private:
  void* memory_;
};

/// A block of those that were used before, or from the driver. A context is
/// current.
/// @throws Error
std::shared_ptr<HostBlock> take_host_block();

} // namespace accelerator::nvidia
