// How large arrays, textures and surfaces can be, in elements.
// Source: CUDA C++ programming guide, technical specifications per compute
// capability, the figures from 6.0 on; what the guide does not have (levels,
// pitch, the alternate form of three dimensions) is what NVIDIA's driver
// answers for such devices.
#pragma once

#include <cstddef>

namespace accelerator::runtime {

/// The largest sizes of one kind of array; 0 where it has no such dimension.
struct ArrayLimits {
  std::size_t width;
  std::size_t height;
  std::size_t depth; // slices, layers, or six faces a layer
};

/// The largest sizes of arrays by what they can be used for.
struct UseLimits {
  ArrayLimits line; // one dimension
  ArrayLimits plane; // two
  ArrayLimits box; // three
  ArrayLimits layered_line;
  ArrayLimits layered_plane;
  ArrayLimits cubemap;
  ArrayLimits layered_cubemap;
};

inline constexpr UseLimits kTextureLimits = {
    {131072, 0, 0},
    {131072, 65536, 0},
    {16384, 16384, 16384},
    {32768, 0, 2048},
    {32768, 32768, 2048},
    {32768, 32768, 6},
    {32768, 32768, 2046}};

inline constexpr UseLimits kSurfaceLimits = {
    {32768, 0, 0},
    {131072, 65536, 0},
    {16384, 16384, 16384},
    {32768, 0, 2048},
    {32768, 32768, 2048},
    {32768, 32768, 6},
    {32768, 32768, 2046}};

/// What three dimensions can be instead.
inline constexpr ArrayLimits kAlternateBox = {8192, 8192, 32768};
inline constexpr ArrayLimits kGatherPlane = {32768, 32768, 0};
inline constexpr ArrayLimits kMipmappedLine = {32768, 0, 0};
inline constexpr ArrayLimits kMipmappedPlane = {32768, 32768, 0};

/// Elements of memory without rows that a texture can have.
inline constexpr std::size_t kLinearTexture = std::size_t{1} << 28;
/// Elements of a row, and rows, of pitched memory that a texture can have.
inline constexpr ArrayLimits kPitchedTexture = {131072, 65000, 0};
/// Bytes from row to row of such memory.
inline constexpr std::size_t kPitchedTexturePitch = 2097120;

/// Of the address of a texture's memory, in bytes.
inline constexpr std::size_t kTextureAlignment = 512;
/// Of the bytes from row to row.
inline constexpr std::size_t kTexturePitchAlignment = 32;

} // namespace accelerator::runtime
