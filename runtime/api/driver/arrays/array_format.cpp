#include "runtime/api/driver/arrays/array_format.h"

#include "runtime/core/status/status.h"

namespace accelerator::driver {
namespace {

struct PlainFormat {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};

constexpr PlainFormat kPlainFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32}};

// The others are numbered in the same order as the runtime's kinds.
struct Range {
  int first; // CUarray_format
  int last;
  int kind; // of the first
};

constexpr Range kRanges[] = {
    {CU_AD_FORMAT_NV12, CU_AD_FORMAT_NV12, cudaChannelFormatKindNV12},
    {CU_AD_FORMAT_UNORM_INT8X1,
     CU_AD_FORMAT_SNORM_INT16X4,
     cudaChannelFormatKindUnsignedNormalized8X1},
    {CU_AD_FORMAT_BC1_UNORM,
     CU_AD_FORMAT_BC7_UNORM_SRGB,
     cudaChannelFormatKindUnsignedBlockCompressed1}};

cudaChannelFormatDesc channels(
    unsigned count,
    int bits,
    cudaChannelFormatKind kind) {
  const auto of = [&](unsigned channel) { return channel < count ? bits : 0; };
  return {of(0), of(1), of(2), of(3), kind};
}

// Of a channel of the formats whose names end in INT8X1 and the like.
int bits_of(int place) {
  return place % 6 < 3 ? 8 : 16;
}

} // namespace

cudaChannelFormatDesc format_of(CUarray_format format, unsigned count) {
  runtime::require(count >= 1 && count <= 4);
  for (const PlainFormat& plain : kPlainFormats) {
    if (plain.format == format) {
      return channels(count, plain.bits, plain.kind);
    }
  }
  for (const Range& range : kRanges) {
    if (format >= range.first && format <= range.last) {
      const int place = format - range.first;
      return channels(
          count,
          bits_of(place),
          static_cast<cudaChannelFormatKind>(range.kind + place));
    }
  }
  throw runtime::Failure(cudaErrorInvalidValue);
}

CUarray_format array_format(const cudaChannelFormatDesc& description) {
  for (const PlainFormat& plain : kPlainFormats) {
    if (plain.kind == description.f && plain.bits == description.x) {
      return plain.format;
    }
  }
  for (const Range& range : kRanges) {
    const int place = description.f - range.kind;
    if (place >= 0 && place <= range.last - range.first) {
      return static_cast<CUarray_format>(range.first + place);
    }
  }
  throw runtime::Failure(cudaErrorInvalidValue);
}

unsigned channels_of(const cudaChannelFormatDesc& d) {
  unsigned count = 0;
  for (const int bits : {d.x, d.y, d.z, d.w}) {
    count += bits != 0 ? 1 : 0;
  }
  return count;
}

} // namespace accelerator::driver
