// The options of cuModuleLoadDataEx and cuLinkCreate that matter here: where
// messages go, and how many registers a kernel may take.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace accelerator::driver {

/// The caller's buffers for messages. They are empty texts, and their size
/// options are 0, until there is an error, whose bytes the option counts.
class JitLog {
 public:
  /// No buffer: messages go to stderr only.
  JitLog() = default;
  /// @param count of options, @param options their names, @param values theirs.
  JitLog(unsigned count, const CUjit_option* options, void** values);

  /// Writes a message, cut to what fits.
  void error(const std::string& message);

 private:
  char* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  void** size_ = nullptr;
};

/// CU_JIT_MAX_REGISTERS: of 32 bits, a thread; 0: there is no limit.
/// @param count of options, @param options their names, @param values theirs.
unsigned max_registers(
    unsigned count,
    const CUjit_option* options,
    void* const* values);

} // namespace accelerator::driver
