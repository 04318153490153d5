// What fresh memory is filled with under CUDASIM_CHECK=1. A word that still
// has the poison of its own address has not been written since: by no kernel,
// no copy and no library. Another value is taken for it once in 2^32 words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cudasim::engine {

/// Bytes of a word that is written or not as a whole.
inline constexpr std::uint64_t kPoisonWord = 4;

/// The poison of the word at `address`, a multiple of kPoisonWord.
inline std::uint32_t poison_of(std::uint64_t address) {
  // The finalizer of MurmurHash3, 64 bits.
  std::uint64_t bits = address ^ 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdull;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return static_cast<std::uint32_t>(bits >> 32);
}

/// Fills whole words of [begin, begin + bytes); `begin` is a multiple of
/// kPoisonWord.
inline void poison(void* begin, std::size_t bytes) {
  auto* place = static_cast<std::byte*>(begin);
  for (std::size_t at = 0; at + kPoisonWord <= bytes; at += kPoisonWord) {
    const std::uint32_t word =
        poison_of(reinterpret_cast<std::uint64_t>(place + at));
    std::memcpy(place + at, &word, sizeof(word));
  }
}

/// Whether all bytes of [begin, begin + size) are in words with their poison.
/// Not just one: structures are copied whole, with the padding in them that
/// nobody writes.
inline bool is_poisoned(std::uint64_t begin, std::uint32_t size) {
  for (std::uint64_t at = begin / kPoisonWord * kPoisonWord; at < begin + size;
       at += kPoisonWord) {
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(at), sizeof(word));
    if (word != poison_of(at)) {
      return false;
    }
  }
  return true;
}

/// Bytes of a range that nobody has written.
struct Unwritten {
  std::uint64_t first = 0; // address
  std::uint64_t bytes = 0;
};

/// What nobody has written of [begin, end), whose ends need not be whole words.
inline Unwritten find_unwritten(std::uint64_t begin, std::uint64_t end) {
  Unwritten found;
  for (std::uint64_t at = begin / kPoisonWord * kPoisonWord; at < end;
       at += kPoisonWord) {
    if (is_poisoned(at, kPoisonWord)) {
      const std::uint64_t from = at < begin ? begin : at;
      const std::uint64_t to = at + kPoisonWord < end ? at + kPoisonWord : end;
      found.first = found.bytes == 0 ? from : found.first;
      found.bytes += to - from;
    }
  }
  return found;
}

} // namespace cudasim::engine
