// Divides a stretch of address space into pieces. Knows nothing of what lies
// behind the addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cudasim::engine {

/// Best fit over a sorted list of free pieces, merged as they are freed. Every
/// piece is followed by a gap that belongs to nobody, so that running over the
/// end of one does not silently reach the next. Not thread-safe.
class RangeAllocator {
 public:
  /// @param begin first address, @param size bytes, @param gap bytes left free
  /// behind each piece.
  RangeAllocator(std::uint64_t begin, std::uint64_t size, std::uint64_t gap);

  /// Takes `bytes` (rounded up to `alignment`, a power of two). Nothing when no
  /// free piece is large enough.
  std::optional<std::uint64_t> allocate(
      std::uint64_t bytes,
      std::uint64_t alignment);

  /// Gives back what allocate() returned; false when it did not return that.
  bool release(std::uint64_t begin);

 private:
  void add_free(std::uint64_t begin, std::uint64_t size);
  void remove_free(std::map<std::uint64_t, std::uint64_t>::iterator piece);

  std::uint64_t gap_;
  std::map<std::uint64_t, std::uint64_t> used_; // begin, size with the gap
  std::map<std::uint64_t, std::uint64_t> free_; // begin, size
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_; // size, begin
};

} // namespace cudasim::engine
