// Reads of memory that nobody has written (CUDASIM_CHECK=1) by what is not a
// kernel: copies, and libraries that compute on the host.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "cudasim/backend/memory/address_map.h"
#include "device/abi/device_api.h"

namespace cudasim::backend {

/// Finds such reads and reports each function's of an allocation once.
/// Thread-safe.
class WrittenCheck {
 public:
  explicit WrittenCheck(const AddressMap& addresses) : addresses_(addresses) {}

  void read(const accel_read& read);

 private:
  const AddressMap& addresses_;
  std::mutex mutex_;
  std::set<std::pair<std::string, std::uint64_t>> reported_;
};

/// Copies a row from device memory to device memory. What nobody has written
/// counts as such where it arrives, too, as far as words stay words.
void copy_with_poison(std::byte* to, const std::byte* from, std::size_t bytes);

} // namespace cudasim::backend
