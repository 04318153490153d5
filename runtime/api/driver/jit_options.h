// The options of cuModuleLoadDataEx and cuLinkCreate that matter here: where
// messages go, and how many registers a kernel may take.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace accelerator::driver {

/// A buffer of the caller's for messages, with the option that holds its size.
struct JitLog {
  char* buffer = nullptr;
  std::size_t capacity = 0;
  void** size = nullptr;

  /// Makes it an empty text of no size.
  void clear();
  /// Writes a message, cut to what fits; the size counts its bytes.
  void write(const std::string& message);
};

struct JitOptions {
  /// No options: messages go to stderr only.
  JitOptions() = default;
  /// @param count of options, @param names of them, @param values theirs.
  /// @throws runtime::Failure: cudaErrorInvalidValue when they are not there.
  JitOptions(unsigned count, const CUjit_option* names, void** values);

  void clear_logs();

  JitLog info; // there is never more than its end
  JitLog error;
  /// Of 32 bits, a thread; 0: there is no limit.
  unsigned max_registers = 0;
};

} // namespace accelerator::driver
