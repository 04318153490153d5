#include "runtime/core/arrays/element_format.h"

#include <string>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {
namespace {

[[noreturn]] void refuse_format(const std::string& name) {
  throw Failure(
      cudaErrorNotSupported,
      "arrays and textures of the format " + name +
          " are not supported: formats with 1, 2 or 4 channels of 8, 16 or 32 "
          "bits are");
}

// The kinds above cudaChannelFormatKindNone, which say channels and bits, too.
ElementFormat special_format(int kind) {
  if (kind == cudaChannelFormatKindNV12) {
    refuse_format("NV12");
  }
  if (kind == 31) { // cudaChannelFormatKindUnsignedNormalized1010102, CUDA 13
    refuse_format("unsigned normalized 10-10-10-2");
  }
  if (kind > cudaChannelFormatKindSignedNormalized16X4) {
    constexpr const char* kNames[] = {
        "BC1",
        "BC1 sRGB",
        "BC2",
        "BC2 sRGB",
        "BC3",
        "BC3 sRGB",
        "BC4",
        "signed BC4",
        "BC5",
        "signed BC5",
        "BC6H",
        "signed BC6H",
        "BC7",
        "BC7 sRGB"};
    refuse_format(kNames[kind - cudaChannelFormatKindUnsignedBlockCompressed1]);
  }
  const int place = kind - cudaChannelFormatKindUnsignedNormalized8X1;
  constexpr unsigned kChannels[] = {1, 2, 4};
  ElementFormat format;
  format.kind = place < 6 ? ACCEL_CHANNEL_UNSIGNED : ACCEL_CHANNEL_SIGNED;
  format.bits = place % 6 < 3 ? 8 : 16;
  format.channels = kChannels[place % 3];
  format.normalized = true;
  return format;
}

} // namespace

ElementFormat format_of(const cudaChannelFormatDesc& d) {
  const int kind = d.f;
  require(
      kind >= cudaChannelFormatKindSigned && kind <= 31 &&
          kind != cudaChannelFormatKindNone,
      cudaErrorInvalidChannelDescriptor);
  const int bits[] = {d.x, d.y, d.z, d.w};
  unsigned channels = 0;
  while (channels < 4 && bits[channels] != 0) {
    ++channels;
  }
  ElementFormat format;
  if (kind > cudaChannelFormatKindNone) {
    format = special_format(kind);
    require(channels == format.channels, cudaErrorInvalidChannelDescriptor);
  } else {
    format.kind = static_cast<accel_channel_kind>(kind); // the same numbers
    format.channels = channels;
    format.bits = static_cast<unsigned>(d.x);
  }
  const bool known = (format.bits == 8 && kind != cudaChannelFormatKindFloat) ||
      format.bits == 16 || format.bits == 32;
  require(
      known && (channels == 1 || channels == 2 || channels == 4),
      cudaErrorInvalidChannelDescriptor);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned wanted = i < channels ? format.bits : 0;
    require(
        bits[i] == static_cast<int>(wanted), cudaErrorInvalidChannelDescriptor);
  }
  return format;
}

ElementFormat format_of(cudaResourceViewFormat view) {
  require(
      view > cudaResViewFormatNone &&
      view <= cudaResViewFormatUnsignedBlockCompressed7);
  if (view >= cudaResViewFormatUnsignedBlockCompressed1) {
    constexpr const char* kNames[] = {
        "BC1",
        "BC2",
        "BC3",
        "BC4",
        "signed BC4",
        "BC5",
        "signed BC5",
        "BC6H",
        "signed BC6H",
        "BC7"};
    refuse_format(kNames[view - cudaResViewFormatUnsignedBlockCompressed1]);
  }
  struct Row {
    accel_channel_kind kind;
    unsigned bits;
  };
  // Three each: 1, 2 and 4 channels.
  constexpr Row kRows[] = {
      {ACCEL_CHANNEL_UNSIGNED, 8},
      {ACCEL_CHANNEL_SIGNED, 8},
      {ACCEL_CHANNEL_UNSIGNED, 16},
      {ACCEL_CHANNEL_SIGNED, 16},
      {ACCEL_CHANNEL_UNSIGNED, 32},
      {ACCEL_CHANNEL_SIGNED, 32},
      {ACCEL_CHANNEL_FLOAT, 16},
      {ACCEL_CHANNEL_FLOAT, 32}};
  const unsigned place = view - 1u;
  ElementFormat format;
  format.kind = kRows[place / 3].kind;
  format.bits = kRows[place / 3].bits;
  format.channels = 1u << place % 3;
  return format;
}

} // namespace accelerator::runtime
