// What the checks of CUDASIM_CHECK=1 have found: each pair of instructions is
// reported once, and counted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "cudasim/engine/code/code.h"

namespace cudasim::engine {

enum class FindingKind : std::uint8_t {
  kUninitializedGlobal,
  kUninitializedShared,
  kReadAfterWrite,
  kWriteAfterRead,
  kWriteAfterWrite,
};

/// "Race in shared memory (read after write)" and the like.
const char* name_of(FindingKind kind);

/// An instruction of a function.
struct Site {
  const Code* code = nullptr;
  const Inst* inst = nullptr;
};

/// "ld.shared.u32 in scan(int*) (scan.ptx, PTX line 31)".
std::string text_of(const Site& site);

/// The findings of a process. Thread-safe.
class Findings {
 public:
  /// One kind of finding, at one pair of instructions.
  struct Finding {
    std::string what; // a line
    std::uint64_t times = 0;
    std::uint64_t launches = 0;
  };

  /// Reports that are new since it was called last.
  std::vector<std::string> take();
  /// One line for each finding, with how often it was there.
  std::vector<std::string> totals() const;

 private:
  friend class LaunchFindings;

  mutable std::mutex mutex_;
  std::map<std::string, Finding> findings_;
  std::vector<std::string> reports_;
};

/// The findings of one launch. Thread-safe.
class LaunchFindings {
 public:
  explicit LaunchFindings(Findings& all) : all_(all) {}
  /// Counts a finding.
  /// @param second not there for reads of uninitialized memory.
  /// @returns whether it is the first one of the process, to be reported.
  bool add(FindingKind kind, const Site& first, const Site& second);
  /// Adds the report of a finding.
  void report(std::string text);

 private:
  Findings& all_;
  std::
      map<std::tuple<FindingKind, const Inst*, const Inst*>, Findings::Finding*>
          known_;
};

} // namespace cudasim::engine
