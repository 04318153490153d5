// The head of a JPEG image. Source: ITU-T T.81, annex B.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "standjpeg.h"

namespace stand::jpeg {

/// One colour as it is stored.
struct Component {
  int horizontal = 0; // sampling factors
  int vertical = 0;
};

/// What the head says.
struct Frame {
  int width = 0; // pixels
  int height = 0;
  int count = 0; // 1 or 3
  std::array<Component, 3> components;

  /// The pixels of a component that are stored.
  int width_of(int component) const;
  int height_of(int component) const;
  standjpegChromaSubsampling_t subsampling() const;
};

/// Reads the head, and looks whether the image has an end.
/// @param complete set to whether it has one.
standjpegStatus_t read_frame(
    const std::uint8_t* data,
    std::size_t length,
    Frame& frame,
    bool& complete);

} // namespace stand::jpeg
