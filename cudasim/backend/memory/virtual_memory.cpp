#include "cudasim/backend/memory/virtual_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/backend/memory/address_map.h"
#include "cudasim/backend/memory/memory.h"
#include "cudasim/backend/status/error.h"
#include "device/host/shared_file.h"

namespace cudasim::backend {
namespace {

const char* const kFileName = "cudasim-virtual";

struct Mapping {
  std::uint64_t size;
  std::shared_ptr<PhysicalMemory> memory;
};

struct State {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> reserved; // begin, size
  std::map<std::uint64_t, Mapping> mapped; // by begin
};

State& state() {
  static auto* all = new State; // outlives static destructors
  return *all;
}

void require_granular(std::uint64_t value) {
  require(
      value % kVirtualGranularity == 0,
      "addresses, sizes and offsets are multiples of 2 MiB");
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

// The mappings that lie wholly in a range, which they have to fill.
std::vector<std::uint64_t> mappings_in(
    const State& all,
    std::uint64_t begin,
    std::uint64_t size) {
  require(size <= ~begin, "the size exceeds the address space");
  std::vector<std::uint64_t> begins;
  std::uint64_t at = begin;
  while (at < begin + size) {
    const auto found = all.mapped.find(at);
    require(found != all.mapped.end(), "not all of it is mapped");
    begins.push_back(at);
    at += found->second.size;
  }
  require(at == begin + size, "a mapping goes on behind its end");
  return begins;
}

} // namespace

PhysicalMemory::PhysicalMemory(Memory& memory, std::uint64_t bytes)
    : memory_(memory), size_(bytes) {
  require(bytes > 0, "the size is 0");
  require_granular(bytes);
  memory.charge(bytes);
  charged_ = true;
  file_ = accelerator::host::create_shared_file(kFileName, bytes);
  if (file_ < 0) {
    memory.refund(bytes);
    throw Error(ACCEL_OUT_OF_MEMORY, "the host has no file to give");
  }
}

PhysicalMemory::PhysicalMemory(Memory& memory, int file) : memory_(memory) {
  require(
      accelerator::host::is_shared_file(file, kFileName, &size_) && size_ > 0,
      "the file is none that has memory of a simulated device");
  require_granular(size_);
  file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
  require(file_ >= 0, ACCEL_UNKNOWN, "the host has no descriptor to give");
}

PhysicalMemory::~PhysicalMemory() {
  if (file_ >= 0) {
    close(file_);
  }
  if (charged_) {
    memory_.refund(size_);
  }
}

std::uint64_t reserve_addresses(
    std::uint64_t size,
    std::uint64_t alignment,
    std::uint64_t wish) {
  require(size > 0, "the size is 0");
  require_granular(size);
  alignment = std::max(alignment, kVirtualGranularity);
  require(
      (alignment & (alignment - 1)) == 0,
      "the alignment is not a power of two");
  require(
      size <= ~alignment,
      ACCEL_OUT_OF_MEMORY,
      "the size exceeds the address space");
  void* space = mmap(
      pointer(wish),
      size + alignment,
      PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0);
  require(
      space != MAP_FAILED,
      ACCEL_OUT_OF_MEMORY,
      "the host has no address range of this size");
  // Give back what lies around the aligned part.
  const auto first = reinterpret_cast<std::uint64_t>(space);
  const std::uint64_t begin = (first + alignment - 1) & ~(alignment - 1);
  if (begin > first) {
    munmap(space, begin - first);
  }
  const std::uint64_t rest = first + alignment - begin;
  if (rest > 0) {
    munmap(pointer(begin + size), rest);
  }
  const std::lock_guard lock(state().mutex);
  state().reserved[begin] = size;
  return begin;
}

void free_addresses(std::uint64_t begin, std::uint64_t size) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto found = all.reserved.find(begin);
  require(
      found != all.reserved.end() && found->second == size,
      "the addresses were not reserved like that");
  const auto inside = all.mapped.lower_bound(begin);
  require(
      inside == all.mapped.end() || inside->first >= begin + size,
      "something is still mapped there");
  munmap(pointer(begin), size);
  all.reserved.erase(found);
}

void map_memory(
    std::uint64_t begin,
    std::uint64_t size,
    std::uint64_t offset,
    std::shared_ptr<PhysicalMemory> memory) {
  require(
      size > 0 && size <= memory->size() && offset <= memory->size() - size,
      "the memory does not go so far");
  require_granular(begin);
  require_granular(size);
  require_granular(offset);
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto above = all.reserved.upper_bound(begin);
  require(above != all.reserved.begin(), "the addresses are not reserved");
  const auto [space, space_size] = *std::prev(above);
  require(
      size <= space_size && begin - space <= space_size - size,
      "the addresses are not reserved");
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = begin + size;
  allocation.guarded = true;
  AddressMap& addresses = memory->memory().addresses();
  allocation.device = memory->memory().device();
  addresses.insert(allocation); // refuses overlaps
  void* mapped = mmap(
      pointer(begin),
      size,
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
      memory->file(),
      static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) {
    addresses.erase(begin);
    throw Error(ACCEL_OUT_OF_MEMORY, "the host cannot map the memory");
  }
  all.mapped[begin] = {size, std::move(memory)};
}

void unmap_memory(std::uint64_t begin, std::uint64_t size) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (const std::uint64_t at : mappings_in(all, begin, size)) {
    const Mapping& mapping = all.mapped.at(at);
    mapping.memory->memory().addresses().erase(at);
    mmap(
        pointer(at),
        mapping.size,
        PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
        -1,
        0);
    all.mapped.erase(at);
  }
}

void set_access(
    std::uint64_t begin,
    std::uint64_t size,
    int device,
    bool allowed) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (const std::uint64_t at : mappings_in(all, begin, size)) {
    AddressMap& addresses = all.mapped.at(at).memory->memory().addresses();
    addresses.set_reader(at, device, allowed);
  }
}

} // namespace cudasim::backend
