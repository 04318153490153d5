// The options of a link.
#pragma once

#include <nvJitLink.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace accelerator::nvjitlink {

/// A status, and what the log says.
class Failure : public std::runtime_error {
 public:
  Failure(nvJitLinkResult status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  nvJitLinkResult status() const {
    return status_;
  }

 private:
  nvJitLinkResult status_;
};

/// What options say, as far as it means something here.
struct Options {
  std::vector<std::string> all;
  std::uint32_t capability = 0; // 80 for -arch=sm_80
  bool link_time_optimization = false; // -lto
  bool gives_ptx = false; // -ptx
  bool relocatable = false; // -r
  unsigned max_registers = 0; // a thread; 0: any
};

/// Reads options as NVIDIA's library does, of which many are known by their
/// first letters.
/// @param[out] options as far as they were read, where it throws, too.
/// @throws Failure
void read_options(std::vector<std::string> all, Options& options);

} // namespace accelerator::nvjitlink
