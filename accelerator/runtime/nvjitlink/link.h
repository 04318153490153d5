// One link: its options, its inputs, and what has come of it.
#pragma once

#include <nvJitLink.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "accelerator/runtime/linker/linker.h"

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

class Link {
 public:
  /// @throws Failure for an option that there is not, or without -arch.
  explicit Link(std::vector<std::string> options);

  /// @throws Failure
  void add(
      nvJitLinkInputType type,
      std::string_view data,
      const std::string& name);
  /// @throws Failure
  void complete();

  const std::string& ptx() const {
    return ptx_;
  }
  std::string log; // of errors

 private:
  struct Input {
    std::string name;
    std::string data;
  };

  void read_option(const std::string& option);
  std::string compiled() const;

  std::vector<std::string> options_;
  std::uint32_t capability_ = 0; // 80 for -arch=sm_80
  unsigned max_registers_ = 0; // a thread; 0: any
  linker::Linker linker_;
  std::vector<Input> intermediate_; // LTO IR
  std::string ptx_;
};

} // namespace accelerator::nvjitlink
