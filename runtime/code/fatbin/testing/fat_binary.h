// Fat binaries as tests write them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace accelerator::fatbin::testing {

/// Writes a number, or a struct, at an offset.
template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof(value));
}

/// A fat binary with these entries.
inline std::string image_of(const std::string& entries) {
  std::string header(16, '\0');
  put<std::uint32_t>(header, 0, 0xBA55ED50);
  put<std::uint16_t>(header, 4, 1);
  put<std::uint16_t>(header, 6, 16);
  put<std::uint64_t>(header, 8, entries.size());
  return header + entries;
}

/// A fat binary with one entry, a multiple of 8 bytes.
/// @param kind 1 for PTX, 2 for machine code.
inline std::string fat_binary(
    std::uint16_t kind,
    std::string payload,
    std::uint32_t architecture = 80) {
  payload.resize((payload.size() + 8) / 8 * 8);
  std::string entry(64, '\0');
  put<std::uint16_t>(entry, 0, kind);
  put<std::uint32_t>(entry, 4, 64);
  put<std::uint64_t>(entry, 8, payload.size());
  put<std::uint32_t>(entry, 28, architecture);
  return image_of(entry + payload);
}

} // namespace accelerator::fatbin::testing
