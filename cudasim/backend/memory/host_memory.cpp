#include "cudasim/backend/memory/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/backend/memory/address_map.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

// Address space is cheap, but nobody has more memory than the machine.
std::uint64_t host_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

void enter(AddressMap& map, const void* memory, std::uint64_t bytes) {
  Allocation allocation;
  allocation.begin = address_of(memory);
  allocation.end = allocation.begin + bytes;
  allocation.device = ACCEL_HOST;
  map.insert(allocation);
}

Allocation take_out(AddressMap& map, const void* memory) {
  const auto piece = map.find(address_of(memory));
  require(
      piece && piece->device == ACCEL_HOST &&
          piece->begin == address_of(memory) &&
          map.erase(piece->begin).has_value(), // or another thread was first
      "no memory of the host that devices know begins there");
  return *piece;
}

} // namespace

void* allocate_host(AddressMap& map, std::uint64_t bytes) {
  require(bytes <= host_bytes(), ACCEL_OUT_OF_MEMORY, "out of host memory");
  const std::uint64_t size = whole_pages(bytes);
  void* memory = mmap(
      nullptr,
      size + kPage,
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  require(memory != MAP_FAILED, ACCEL_OUT_OF_MEMORY, "out of host memory");
  // One page more than needed stays without access: a guard.
  mprotect(static_cast<char*>(memory) + size, kPage, PROT_NONE);
  enter(map, memory, bytes);
  return memory;
}

void release_host(AddressMap& map, void* memory) {
  const Allocation piece = take_out(map, memory);
  munmap(memory, whole_pages(piece.size()) + kPage);
}

void register_host(AddressMap& map, void* memory, std::uint64_t bytes) {
  require(
      memory != nullptr && bytes > 0 && bytes <= ~address_of(memory),
      "the address is null, or the size is 0 or too large");
  enter(map, memory, bytes);
}

void unregister_host(AddressMap& map, void* memory) {
  take_out(map, memory);
}

} // namespace cudasim::backend
