// Decodes JPEG images on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stand::jpeg {

/// Pixels of three bytes, red first, row after row without gaps.
struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> bytes;
};

/// Whether there is a decoder: gdk-pixbuf's (libgdk_pixbuf-2.0.so.0), which is
/// loaded when it is first asked for. Without it, one line on stderr says so.
bool has_decoder();

/// @returns nothing for what the decoder does not take for an image.
std::optional<Pixels> decode(const std::uint8_t* data, std::size_t length);

} // namespace stand::jpeg
