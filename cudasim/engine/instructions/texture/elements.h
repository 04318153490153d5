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

/// An element from its bytes. Of channels that it lacks the first three are 0,
/// the last is 1, as OpenCL has it of images.
Element read_element(const Texture& texture, const std::byte* bytes);

/// What stands for elements outside of a texture: the same four words, of which
/// missing channels are as above.
Element border_element(const Texture& texture);
/// Zeros where elements are fetched outside of a texture.
Element zero_element(const Texture& texture);

/// The bytes of an element from registers (sust.p): whole numbers are
/// saturated, and floating point ones rounded to nearest.
void write_element(
    const Texture& surface,
    const Element& element,
    std::byte* bytes);

/// IEEE half precision from a number of single precision, to nearest even.
std::uint16_t half_of(float value);

} // namespace cudasim::engine
