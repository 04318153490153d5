// Device memory of the benches of the engine.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

#include "cudasim/engine/memory/address_space.h"

namespace bench_cudasim {

/// Buffers as allocations of a device; they stay until the process ends.
class Buffers : public cudasim::engine::AddressSpace {
 public:
  /// @param bytes of zeros. @returns their address.
  std::uint64_t allocate(std::size_t bytes) {
    void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(memory, 0, bytes);
    cudasim::engine::Range range;
    range.begin = reinterpret_cast<std::uint64_t>(memory);
    range.end = range.begin + bytes;
    range.id = ranges_.size() + 1;
    ranges_[range.begin] = range;
    ++generation_;
    return range.begin;
  }
  float* floats(std::size_t count) {
    return reinterpret_cast<float*>(allocate(count * sizeof(float)));
  }
  bool find(std::uint64_t address, cudasim::engine::Range* range)
      const override {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) {
      return false;
    }
    *range = std::prev(after)->second;
    return address < range->end;
  }
  void neighbours(
      std::uint64_t,
      cudasim::engine::Range*,
      cudasim::engine::Range*) const override {}

 private:
  std::map<std::uint64_t, cudasim::engine::Range> ranges_;
};

} // namespace bench_cudasim
