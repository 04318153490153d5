// Which memory is whose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace stand {

/// Memory that the runtime knows: of a device, or pinned.
struct Range {
  std::uintptr_t begin;
  std::size_t bytes;
  int device; // kHost: pinned memory
  bool registered; // the program's own, pinned later
};

constexpr int kHost = -1;

/// All of it, by address.
class Ranges {
 public:
  static Ranges& get();

  void add(const Range& range);
  /// The range that an address lies in.
  std::optional<Range> find(const void* address);
  /// Takes out the range that begins there, if it is one such as that.
  bool take(const void* begin, bool registered, bool on_device, Range* range);
  /// Whether a range has a byte of these.
  bool overlaps(const void* begin, std::size_t bytes);
  void forget_device(int device);

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Range> ranges_; // by their begin
};

} // namespace stand
