#include "runtime/nccl/staging.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "device/host/host_error.h"
#include "device/host/shared_file.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/memory.h"

namespace accelerator::nccl {
namespace {

// The key is in the name, so that a number of a file that was closed and is
// another's does not lead there.
std::string name_of(std::uint64_t key) {
  return "accel-nccl-staging-" + std::to_string(key);
}

} // namespace

SharedMemory::SharedMemory(std::uint64_t key, std::size_t bytes)
    : file_(accelerator::host::create_shared_file(name_of(key), bytes)),
      bytes_(bytes) {
  require(
      file_ >= 0,
      ncclSystemError,
      "no shared memory of " + std::to_string(bytes) +
          " bytes: " + std::strerror(errno));
  map();
}

SharedMemory::SharedMemory(const Exposure& exposure) {
  std::uint64_t bytes = 0;
  try {
    file_ = accelerator::host::open_shared_file(
        exposure.pid, exposure.file, name_of(exposure.key), &bytes);
  } catch (const accelerator::host::HostError& error) {
    throw Unreachable(ncclRemoteError, error.what());
  }
  bytes_ = bytes;
  map();
}

void SharedMemory::map() {
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    close(std::exchange(file_, -1));
    throw Error(ncclSystemError, "mapping shared memory failed: " + reason);
  }
  memory_ = memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (memory_ != nullptr) {
    munmap(memory_, bytes_);
  }
  if (file_ >= 0) {
    close(file_);
  }
}

Staging::Staging() : number_(accelerator::host::random_key()) {}

void* Staging::get(std::size_t slot, std::size_t bytes, Exposure* exposure) {
  if (slot >= pieces_.size()) {
    pieces_.resize(slot + 1);
  }
  Piece& piece = pieces_[slot];
  if (piece.memory.bytes() < bytes) {
    const std::size_t larger = std::max(bytes, 2 * piece.memory.bytes());
    piece = {};
    const std::uint64_t key = accelerator::host::random_key();
    piece = {key, SharedMemory(key, larger)};
  }
  *exposure = {};
  exposure->process = this_process();
  exposure->address = reinterpret_cast<std::uint64_t>(piece.memory.memory());
  exposure->key = piece.key;
  exposure->staging = number_;
  exposure->slot = slot;
  exposure->pid = getpid();
  exposure->file = piece.memory.file();
  return piece.memory.memory();
}

void* PeerStaging::reach(const Exposure& exposure) {
  Piece& piece = pieces_[{exposure.staging, exposure.slot}];
  if (piece.key != exposure.key) {
    piece = {};
    piece = {exposure.key, SharedMemory(exposure)};
  }
  return piece.memory.memory();
}

} // namespace accelerator::nccl
