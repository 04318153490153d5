// A link of NVIDIA's library, which compiles LTO IR.
#pragma once

#include <nvJitLink.h>

#include <deque>
#include <string>
#include <vector>

namespace accelerator::nvjitlink {

class RealLink {
 public:
  /// @throws Failure, as all do, with NVIDIA's log.
  explicit RealLink(const std::vector<std::string>& options);
  ~RealLink();
  RealLink(const RealLink&) = delete;
  RealLink& operator=(const RealLink&) = delete;

  void add(
      nvJitLinkInputType type,
      const std::string& name,
      const std::string& data);
  void complete();
  std::string ptx() const;
  /// Of CUDA 13.
  std::string intermediate() const;

 private:
  void check(nvJitLinkResult status) const;
  std::string result(const char* measure, const char* get) const;

  nvJitLinkHandle handle_ = nullptr;
  std::deque<std::string> names_; // NVIDIA's looks at them again
};

} // namespace accelerator::nvjitlink
