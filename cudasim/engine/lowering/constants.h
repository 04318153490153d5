// The immediates of a function, repeated for the lanes, so that a handler reads
// them as it reads registers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

class ConstantPool {
 public:
  /// The place of a value.
  /// @param bits its bits. @param width bytes: 2, 4, 8, or 0 for a predicate
  ///   (all lanes set when `bits` is not 0).
  Slot place(std::uint64_t bits, std::uint32_t width);

  std::size_t bytes() const {
    return bytes_;
  }
  /// The pool's contents, aligned to 64 bytes.
  std::shared_ptr<std::byte> contents() const;

 private:
  std::map<std::pair<std::uint64_t, std::uint32_t>, Slot> places_;
  std::size_t bytes_ = 0;
};

} // namespace cudasim::engine
