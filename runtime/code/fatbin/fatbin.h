// Finds PTX in what nvcc embeds into host code: fat binaries, plain PTX text,
// or cubins (which hold machine code and are of no use here).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace accelerator::fatbin {

/// Nothing that can be run here; says what was found.
class FatbinError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A fat binary that contradicts itself; says where.
class DamagedError : public FatbinError {
 public:
  using FatbinError::FatbinError;
};

/// The size of an image that was handed over without one: its header's own is
/// believed (__cudaRegisterFatBinary, cuModuleLoadData).
inline constexpr std::size_t kUnknownSize =
    std::numeric_limits<std::size_t>::max();

/// One entry of a fat binary, which has its payload alone, or one of several
/// that are compressed together.
struct Entry {
  enum class Kind : std::uint8_t { kPtx, kElf, kLtoIr, kOther };
  Kind kind = Kind::kOther;
  std::uint32_t architecture = 0; // 80 for sm_80 or compute_80
  /// What devices it is for: compute_100 for all later ones, compute_100f for
  /// those of the same major version, compute_100a for that one alone.
  enum class Variant : std::uint8_t { kLater, kFamily, kExact };
  Variant variant = Variant::kLater;
  std::size_t offset = 0; // of the payload in the image
  std::size_t size = 0; // of the payload as stored, bytes
  std::size_t uncompressed_size = 0; // 0: it is not compressed
  enum class Compression : std::uint8_t { kNone, kLz4, kZstd };
  Compression compression = Compression::kNone;
  /// Where it lies in what the payload unpacks to.
  std::size_t part_offset = 0;
  std::size_t part_size = 0;

  /// "80", "90a", "100f".
  std::string architecture_name() const;
  /// Whether it is PTX that a device of `capability` (80 for 8.0) compiles.
  bool is_ptx_for(std::uint32_t capability) const;
};

/// Lists the entries of a fat binary, each by itself.
/// @param image its first byte, at the magic number 0xBA55ED50.
/// @param size bytes that may be read.
/// @throws FatbinError
std::vector<Entry> list_entries(
    const void* image,
    std::size_t size = kUnknownSize);

/// Bytes of the whole fat binary by its header.
/// @throws FatbinError
std::size_t image_size(const void* image);

/// What a fat binary has, for messages: "PTX for compute_80, machine code for
/// sm_90, LTO IR for lto_90".
std::string list_text(const std::vector<Entry>& entries);

/// Unpacks one entry.
/// @throws FatbinError
std::string unpack(const void* image, const Entry& entry);

/// Whether an image is LTO IR as NVRTC gives it, in no container. Its magic
/// number is that of NVVM since CUDA 12.
/// @param bytes that may be read.
bool is_lto_ir(const void* image, std::size_t bytes);

/// What to tell of it: "found LTO IR, which …".
std::string lto_ir_text();

/// What to tell of code without PTX for a device of `capability` (80 for 8.0).
/// @param found what there is instead.
std::string no_ptx_text(std::uint32_t capability, const std::string& found);

/// The PTX that a device of `capability` (80 for 8.0) would compile: that of
/// the highest architecture not above it, and of the narrowest choice of
/// devices where there are several.
/// @param size bytes that may be read.
/// @throws FatbinError when there is none, naming what there is.
std::string select_ptx(
    const void* image,
    std::uint32_t capability,
    std::size_t size = kUnknownSize);

} // namespace accelerator::fatbin
