// One link: its options, its inputs, and what has come of it.
#pragma once

#include <nvJitLink.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/code/linker/linker.h"
#include "runtime/code/nvjitlink/options.h"

namespace accelerator::nvjitlink {

class Link {
 public:
  /// Begins with options. Where they are refused, the link stays, for its log.
  /// @throws Failure
  void open(std::vector<std::string> options);

  /// @throws Failure
  void add(
      nvJitLinkInputType type,
      std::string_view data,
      const std::string& name);
  /// @throws Failure
  void complete();

  /// What a program takes for machine code: the linked PTX.
  /// @throws Failure
  const std::string& code() const;
  /// @throws Failure without -ptx.
  const std::string& ptx() const;
  /// All LTO IR as one.
  /// @throws Failure without -lto.
  const std::string& intermediate();

  std::string log; // of errors

 private:
  struct Input {
    nvJitLinkInputType type;
    std::string name;
    std::string data;
  };

  void check_type(
      nvJitLinkInputType type,
      std::string_view data,
      const std::string& name) const;
  void add_ptx(const std::string& name, std::string_view text);
  void add_container(
      nvJitLinkInputType type,
      std::string_view data,
      const std::string& name);
  std::vector<std::string> options_of_real() const;
  std::string compiled(const std::vector<std::string>& kept) const;
  std::string compiled_for_others() const;

  Options options_;
  bool is_open_ = false;
  linker::Linker linker_;
  std::vector<Input> intermediate_; // what NVIDIA's library compiles
  bool has_others_ = false; // than those
  std::optional<std::string> linked_;
  std::string linked_intermediate_;
};

} // namespace accelerator::nvjitlink
