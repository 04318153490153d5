// Which functions of an interface somebody wants to hear of.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace accelerator::cupti {

/// A set of CUPTI's numbers of functions. Any thread may read it while one
/// writes.
class CallbackSet {
 public:
  /// More numbers than CUPTI 13 has (846), those of later ones of it too.
  static constexpr CUpti_CallbackId kEnd = 2048;

  /// @param callback below kEnd.
  void set(CUpti_CallbackId callback, bool in) {
    std::atomic<std::uint64_t>& word = words_[callback / kBits];
    const std::uint64_t bit = std::uint64_t{1} << callback % kBits;
    word = in ? word | bit : word & ~bit;
  }

  void set_all(bool in) {
    for (auto& word : words_) {
      word = in ? ~std::uint64_t{0} : 0;
    }
  }

  bool has(CUpti_CallbackId callback) const {
    return callback < kEnd &&
        (words_[callback / kBits].load(std::memory_order_relaxed) >>
             callback % kBits &
         1) != 0;
  }

  bool any() const {
    for (const auto& word : words_) {
      if (word.load(std::memory_order_relaxed) != 0) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kBits = 64;
  std::array<std::atomic<std::uint64_t>, kEnd / kBits> words_{};
};

} // namespace accelerator::cupti
