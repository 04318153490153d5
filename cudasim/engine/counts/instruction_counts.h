// CUDASIM_COUNT=FILE: how often each instruction of each function was executed,
// by how many lanes, and how the lanes' addresses lay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "cudasim/engine/code/code.h"

namespace cudasim::engine {

/// How the addresses of the lanes that access memory lie.
enum class AddressPattern : std::uint8_t {
  kNone, // no access to global or shared memory
  // Of all lanes that access it, or of those of both rows of 16:
  kAlike, // all have the same
  kConsecutive, // a lane's is next to that of the lane before
  kStrided, // there is another distance from lane to lane
  kScattered,
};
inline constexpr std::size_t kAddressPatterns = 5;
const char* name_of(AddressPattern pattern);

/// What was executed of one instruction, by the pattern of addresses.
struct InstructionCount {
  /// Lanes that come to an instruction apart are counted apart.
  struct Executed {
    std::uint64_t by_full_warps = 0;
    std::uint64_t by_others = 0; // warps of which some lanes executed it
    std::uint64_t by_threads = 0;
  };
  std::array<Executed, kAddressPatterns> of;
};

/// The counts of a process. Thread-safe.
class InstructionCounts {
 public:
  /// @param counts one for each instruction of the function.
  void add(const Code& code, const std::vector<InstructionCount>& counts);
  /// Writes a line for each instruction and pattern that was executed, the
  /// fields parted by tabs: function, index of the instruction, its opcode,
  /// pattern, by full warps, by other warps, by threads.
  void write(std::ostream& out) const;

 private:
  using Place = std::tuple<std::string, std::size_t, std::string>;
  mutable std::mutex mutex_;
  std::map<Place, InstructionCount> counts_;
};

} // namespace cudasim::engine
