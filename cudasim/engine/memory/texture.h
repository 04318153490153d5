// Memory that kernels read, or read and write, by coordinates: what a texture
// or surface object stands for. Source: CUDA programming guide, "Texture and
// Surface Memory".
#pragma once

#include <cstdint>
#include <vector>

namespace cudasim::engine {

/// The memory of one level: rows of elements, slices of rows.
struct TextureLevel {
  std::uint64_t address = 0;
  std::uint64_t width = 1; // elements
  std::uint64_t height = 1; // rows
  std::uint64_t depth = 1; // slices, layers, or faces
  std::uint64_t pitch = 0; // bytes from row to row
  std::uint64_t slice = 0; // bytes from slice to slice
};

/// How elements are found and understood. Extents and pitches fit each other:
/// no offset of an element is beyond 64 bits.
struct Texture {
  enum class Channel : std::uint8_t { kSigned, kUnsigned, kFloat };
  enum class Addressing : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

  std::vector<TextureLevel> levels; // the largest one first; at least one
  std::uint32_t dimensions = 1; // of an element without its layer
  bool layered = false;
  bool cubemap = false; // six slices, or six of each layer
  bool linear = false; // memory without rows
  Channel channel = Channel::kFloat;
  std::uint32_t channel_bits = 32;
  std::uint32_t channels = 1; // of an element: 1, 2 or 4
  Addressing addressing[3] = {};
  bool filtered = false;
  bool levels_filtered = false;
  bool normalized_coordinates = false;
  /// Whole numbers of 8 and 16 bits are read as 0 or -1 to 1.
  bool normalized_elements = false;
  bool srgb = false;
  bool seamless = false;
  float border[4] = {};
  float level_bias = 0;
  float level_minimum = 0;
  float level_maximum = 0;

  std::uint32_t element_bytes() const {
    return channels * channel_bits / 8;
  }
};

} // namespace cudasim::engine
