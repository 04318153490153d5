// Buffers of the ranks: whether they are there, how other ranks reach them.
//
// What is known of the device here: its memory is memory of the host at the
// same address, in every process that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "accelerator/runtime/nccl/board.h"

namespace accelerator::nccl {

/// Says on stderr, unless all bytes belong to allocations, that they do not.
/// @param function for the message.
bool accessible(const char* function, const void* buffer, std::size_t bytes);

/// The device is at fault from now on, as after a kernel's access to an illegal
/// address.
void set_fault(int device);

/// The calling process, as Exposure and Place have it.
std::uint64_t this_process();

/// Whether a process has certainly ended.
bool has_ended(std::uint64_t process);

/// Device memory of a communicator through which other processes see what they
/// cannot open: pinned and managed memory, memory of other processes, and
/// allocations side by side. Kept, because giving memory back waits for all
/// work.
class Staging {
 public:
  Staging() = default;
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// The slot-th piece of memory, of at least that many bytes.
  /// @throws Error.
  void* get(std::size_t slot, std::size_t bytes);

 private:
  struct Piece {
    void* memory;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<void*> outgrown_;
};

/// Shows a buffer to threads of this process and, if `elsewhere`, to other
/// processes. Returns false when these could not open it.
bool expose(
    const void* buffer,
    std::size_t bytes,
    bool elsewhere,
    Exposure* exposure);

/// Where a buffer of another rank, or one of this process, is in this process.
/// @throws Error.
void* reach(const Exposure& exposure);

/// Closes what reach() has opened, except for the newest `keep` allocations, in
/// the background: it waits for all work of the devices.
void close_reached(std::size_t keep);

} // namespace accelerator::nccl
