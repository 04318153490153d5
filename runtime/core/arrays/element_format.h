// What the elements of arrays and textures are.
#pragma once

#include <driver_types.h>

#include <cstddef>

#include "device/abi/device_api.h"

namespace accelerator::runtime {

/// One element: channels of one kind.
struct ElementFormat {
  accel_channel_kind kind = ACCEL_CHANNEL_UNSIGNED;
  unsigned bits = 8; // of a channel
  unsigned channels = 1;
  /// Whether whole numbers are always read as 0 or -1 to 1.
  bool normalized = false;

  std::size_t bytes() const {
    return std::size_t{bits} / 8 * channels;
  }
};

/// @throws Failure: cudaErrorInvalidChannelDescriptor for what is no format,
/// cudaErrorNotSupported for formats without channels of their own.
ElementFormat format_of(const cudaChannelFormatDesc& description);

/// @param view other than cudaResViewFormatNone.
/// @throws Failure: cudaErrorInvalidValue for what is no format,
/// cudaErrorNotSupported for block-compressed ones.
ElementFormat format_of(cudaResourceViewFormat view);

} // namespace accelerator::runtime
