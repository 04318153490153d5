// The elements of textures and surfaces: their bytes in memory, and what
// registers have of them. Source: CUDA programming guide, "Texture Memory"
// (read modes); PTX ISA 9.7.9, 9.7.10.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cudasim/engine/memory/texture.h"

namespace cudasim::engine {

/// Four registers: numbers of the kind that the texture's elements are read as.
using Element = std::array<std::uint32_t, 4>;

/// Whether elements are read as floating point numbers, else as whole ones.
bool reads_floats(const Texture& texture);

/// An element's own bits, channel by channel, with the sign of signed ones.
/// Channels that it lacks are 0, the fourth too: so a GPU reads them (RTX 3060,
/// measured by pantheongpu/pantheonsim, nvidia/docs/textures.md).
Element raw_element(const Texture& texture, const std::byte* bytes);

/// The same of what stands for elements outside of a texture: the border's
/// colour in the texture's format (as measured there).
Element raw_border(const Texture& texture);

/// What registers have of an element that is not filtered.
/// @param raw its own bits.
Element value_of(const Texture& texture, const Element& raw);

/// Numbers of the four channels in the units of the filter: whole ones where
/// elements are normalized, 65535 or 32767 for 1, and 128 for -1 of signed ones
/// of 8 bits; else what they stand for.
std::array<double, 4> filter_units(const Texture& texture, const Element& raw);

/// Whether a channel is stored as sRGB: the first three of four, else the
/// first.
bool is_srgb(const Texture& texture, std::uint32_t channel);

/// The bytes of an element from registers (sust.p): whole numbers are
/// saturated, and halves rounded toward zero, as a GPU does it.
void write_element(
    const Texture& surface,
    const Element& element,
    std::byte* bytes);

} // namespace cudasim::engine
