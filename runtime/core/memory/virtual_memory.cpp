#include "runtime/core/memory/virtual_memory.h"

#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/core/backends/api_status.h"

namespace accelerator::runtime {
namespace {

struct Reservation {
  std::uint64_t size;
  const accel_api* api;
};

struct Mapping {
  std::uint64_t size;
  std::shared_ptr<PhysicalMemory> memory;
};

struct State {
  std::mutex mutex;
  std::map<std::uint64_t, Reservation> reserved; // by begin
  std::map<std::uint64_t, Mapping> mapped; // by begin
};

State& state() {
  static auto* all = new State; // outlives static destructors
  return *all;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

void require_virtual_memory(const accel_api& api) {
  require(api.virtual_reserve != nullptr, cudaErrorNotSupported);
}

// The mappings that lie wholly in a range, which they have to fill.
std::vector<std::uint64_t> mappings_in(
    const State& all,
    std::uint64_t begin,
    std::uint64_t size) {
  require(size <= ~begin);
  std::vector<std::uint64_t> begins;
  std::uint64_t at = begin;
  while (at < begin + size) {
    const auto found = all.mapped.find(at);
    require(found != all.mapped.end());
    begins.push_back(at);
    at += found->second.size;
  }
  require(at == begin + size);
  return begins;
}

} // namespace

PhysicalMemory::PhysicalMemory(
    Memory& memory,
    std::uint64_t bytes,
    unsigned handle_types)
    : memory_(memory),
      size_(bytes),
      handle_types_(handle_types),
      imported_(false) {
  require_virtual_memory(api());
  check(api(), api().physical_create(memory.slot().index, bytes, &native_));
  memory.addresses().count_in(memory.device(), size_);
}

PhysicalMemory::PhysicalMemory(Memory& memory, int file)
    : memory_(memory),
      handle_types_(cudaMemHandleTypePosixFileDescriptor),
      imported_(true) {
  require_virtual_memory(api());
  check(
      api(),
      api().physical_import(memory.slot().index, file, &native_, &size_));
}

PhysicalMemory::~PhysicalMemory() {
  api().physical_destroy(native_);
  if (!imported_) {
    memory_.addresses().count_out(memory_.device(), size_);
  }
}

int PhysicalMemory::export_file() const {
  int file = -1;
  check(api(), api().physical_export(native_, &file));
  return file;
}

std::uint64_t virtual_granularity(const Memory& memory) {
  const accel_api& api = *memory.slot().api;
  require_virtual_memory(api);
  std::uint64_t bytes = 0;
  check(api, api.virtual_granularity(memory.slot().index, &bytes));
  return bytes;
}

std::uint64_t reserve_addresses(
    const Memory& memory,
    std::uint64_t size,
    std::uint64_t alignment,
    std::uint64_t wish) {
  const accel_api& api = *memory.slot().api;
  require_virtual_memory(api);
  void* address = nullptr;
  check(api, api.virtual_reserve(size, alignment, pointer(wish), &address));
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const std::lock_guard lock(state().mutex);
  state().reserved[begin] = {size, &api};
  return begin;
}

void free_addresses(std::uint64_t begin, std::uint64_t size) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto found = all.reserved.find(begin);
  require(found != all.reserved.end() && found->second.size == size);
  const accel_api& api = *found->second.api;
  check(api, api.virtual_release(pointer(begin), size));
  all.reserved.erase(found);
}

void map_memory(
    std::uint64_t begin,
    std::uint64_t size,
    std::uint64_t offset,
    std::shared_ptr<PhysicalMemory> memory) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  Memory& owner = memory->memory();
  const accel_api& api = memory->api();
  const auto above = all.reserved.upper_bound(begin);
  require(
      above != all.reserved.begin() &&
      std::prev(above)->second.api == &api); // another library's addresses
  require(size > 0 && size <= ~begin);
  // As NVIDIA's driver (580): memory is mapped as a whole.
  require(offset == 0);
  require(size == memory->size(), cudaErrorNotSupported);
  Allocation allocation;
  allocation.begin = begin;
  allocation.end = begin + size;
  allocation.space = Space::kMapped;
  allocation.device = owner.device();
  allocation.library = &api;
  owner.addresses().insert(allocation); // refuses overlaps
  try {
    check(api, api.virtual_map(pointer(begin), size, offset, memory->native()));
  } catch (const Failure&) {
    owner.addresses().erase(begin);
    throw;
  }
  all.mapped[begin] = {size, std::move(memory)};
}

void unmap_memory(std::uint64_t begin, std::uint64_t size) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (const std::uint64_t at : mappings_in(all, begin, size)) {
    const Mapping mapping = all.mapped.at(at);
    check(
        mapping.memory->api(),
        mapping.memory->api().virtual_unmap(pointer(at), mapping.size));
    mapping.memory->memory().addresses().erase(at);
    all.mapped.erase(at);
  }
}

void set_access(
    std::uint64_t begin,
    std::uint64_t size,
    const Memory& memory,
    bool allowed) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (const std::uint64_t at : mappings_in(all, begin, size)) {
    const Mapping& mapping = all.mapped.at(at);
    const accel_api& api = mapping.memory->api();
    require(&api == memory.slot().api, cudaErrorNotSupported);
    check(
        api,
        api.virtual_access(
            pointer(at), mapping.size, memory.slot().index, allowed ? 1 : 0));
    AddressMap& addresses = memory.addresses();
    const std::uint64_t bit = std::uint64_t{1} << memory.device();
    const std::uint64_t before = addresses.find(at)->readers;
    addresses.set_readers(at, allowed ? before | bit : before & ~bit);
  }
}

bool has_access(
    const AddressMap& addresses,
    std::uint64_t address,
    int device) {
  const auto piece = addresses.find(address);
  require(piece && piece->space == Space::kMapped);
  return (piece->readers >> device & 1) != 0;
}

std::shared_ptr<PhysicalMemory> memory_behind(std::uint64_t address) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto above = all.mapped.upper_bound(address);
  require(above != all.mapped.begin());
  const auto& [begin, mapping] = *std::prev(above);
  require(address < begin + mapping.size);
  return mapping.memory;
}

} // namespace accelerator::runtime
