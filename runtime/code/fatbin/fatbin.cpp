// The format is not documented by NVIDIA; what is used here was read off images
// that nvcc 12.4 wrote, plain and with -Xfatbin -compress-all, and those that
// fatbinary 13.5 wrote, which compresses with zstd unless told otherwise:
//
//   header of the image, 16 bytes: magic, version (u16), size of this header
//   (u16), bytes of the entries (u64); then entries, each with a header:
//     0  kind (u16): 1 PTX, 2 ELF,     20 where its options are (u32)
//        8 LTO IR, 256 a bundle        28 architecture (u32), 80 for 8.0
//     4  size of this header (u32)     32 where its name is, its length (u32)
//     8  bytes of the payload (u64)    40 flags (u64)
//    16  bytes of it that are          56 bytes when unpacked (u64)
//        compressed data (u32)
//
// A bundle (nvcc -concat) is what several entries of one kind are compressed in
// together. Behind the 64 bytes above its header has their number (u32), the
// bytes from there on (u32), and their headers, which have their place in the
// unpacked data for their size (at 4), which follows from the name and options
// that they end with: name and NUL; offset and length of the options (u32),
// options and NUL; each a multiple of 8 bytes. Offsets count from the header.
#include "runtime/code/fatbin/fatbin.h"

#include <lz4.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/code/fatbin/zstd.h"

namespace accelerator::fatbin {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kHeaderSize = 16;
constexpr std::size_t kSmallestEntryHeader = 64;
constexpr std::uint16_t kPtxKind = 1;
constexpr std::uint16_t kElfKind = 2;
constexpr std::uint16_t kLtoIrKind = 8;
constexpr std::uint16_t kBundleKind = 256;
constexpr std::size_t kEntryAlignment = 8;
constexpr std::uint64_t kLz4Flag = 0x2000;
constexpr std::uint64_t kZstdFlag = 0x8000;
constexpr std::uint64_t kExactFlag = 0x100000; // compute_90a
constexpr std::uint64_t kFamilyFlag = 0x200000; // compute_100f
// One byte of an LZ4 block stands for at most 255.
constexpr std::uint64_t kLz4Ratio = 255;
constexpr std::uint64_t kLz4Slack = 64;
// Three bytes of a zstd block's header and one more stand for at most 128 KiB.
constexpr std::uint64_t kZstdRatio = 128 * 1024 / 4;

[[noreturn]] void fail(const std::string& what, std::size_t offset) {
  throw DamagedError(
      "damaged fat binary: " + what + " at offset " + std::to_string(offset));
}

// Entries lie at any address, so nothing is read through a cast pointer.
template <class T>
T read(const void* image, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(image) + offset, sizeof(value));
  return value;
}

std::size_t checked_image_size(const void* image, std::size_t size) {
  if (size < kHeaderSize) {
    throw DamagedError(
        "not a fat binary: " + std::to_string(size) +
        " bytes are fewer than its header has");
  }
  std::uint32_t magic = read<std::uint32_t>(image, 0);
  if (magic == 0x464C457F) { // "\x7F" "ELF"
    throw FatbinError(
        "not a fat binary but a cubin (machine code): embed PTX too, "
        "with nvcc -gencode arch=compute_80,code=compute_80");
  }
  if (magic != kMagic) {
    throw FatbinError("not a fat binary: it does not begin with 0xBA55ED50");
  }
  std::size_t header = read<std::uint16_t>(image, 6);
  std::uint64_t entries = read<std::uint64_t>(image, 8);
  if (header < kHeaderSize) {
    fail("a header of " + std::to_string(header) + " bytes", 6);
  }
  constexpr std::uint64_t kLargest =
      std::numeric_limits<std::int64_t>::max() / 2;
  if (entries > kLargest) {
    fail("a size of " + std::to_string(entries) + " bytes", 8);
  }
  std::size_t whole = header + static_cast<std::size_t>(entries);
  if (whole > size) {
    fail(
        "a size of " + std::to_string(whole) + " bytes where there are " +
            std::to_string(size),
        8);
  }
  return whole;
}

Entry::Kind kind_of(std::uint16_t number) {
  switch (number) {
    case kPtxKind:
      return Entry::Kind::kPtx;
    case kElfKind:
      return Entry::Kind::kElf;
    case kLtoIrKind:
      return Entry::Kind::kLtoIr;
    default:
      return Entry::Kind::kOther;
  }
}

// What is compressed says so in flags, and has a size unpacked.
void read_compression(
    const void* image,
    std::size_t at,
    std::uint64_t payload,
    Entry& entry) {
  std::uint64_t flags = read<std::uint64_t>(image, at + 40);
  if ((flags & kLz4Flag) != 0) {
    entry.compression = Entry::Compression::kLz4;
  } else if ((flags & kZstdFlag) != 0) {
    entry.compression = Entry::Compression::kZstd;
  } else {
    return;
  }
  std::uint64_t compressed = read<std::uint32_t>(image, at + 16);
  if (compressed > payload) {
    fail(
        "compressed data of " + std::to_string(compressed) +
            " bytes in a payload of " + std::to_string(payload),
        at + 16);
  }
  entry.size = compressed;
  entry.uncompressed_size = read<std::uint64_t>(image, at + 56);
}

// What an entry is, from its header alone.
void read_identity(const void* image, std::size_t at, Entry& entry) {
  entry.kind = kind_of(read<std::uint16_t>(image, at));
  entry.architecture = read<std::uint32_t>(image, at + 28);
  const auto flags = read<std::uint64_t>(image, at + 40);
  if ((flags & kExactFlag) != 0) {
    entry.variant = Entry::Variant::kExact;
  } else if ((flags & kFamilyFlag) != 0) {
    entry.variant = Entry::Variant::kFamily;
  }
}

// The size of a header in a bundle, of which `left` bytes are.
std::uint64_t bundled_header_size(
    const void* image,
    std::size_t at,
    std::uint64_t left) {
  std::uint64_t size = kSmallestEntryHeader;
  const auto reach = [&](std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t end = offset + length + 1; // its NUL
    size = std::max(
        size, (end + kEntryAlignment - 1) / kEntryAlignment * kEntryAlignment);
  };
  const std::uint64_t name = read<std::uint32_t>(image, at + 32);
  if (name != 0) {
    reach(name, read<std::uint32_t>(image, at + 36));
  }
  const std::uint64_t options = read<std::uint32_t>(image, at + 20);
  if (options != 0 && options + 2 * sizeof(std::uint32_t) <= left) {
    reach(
        read<std::uint32_t>(image, at + options),
        read<std::uint32_t>(image, at + options + sizeof(std::uint32_t)));
  }
  return size;
}

// Adds the entries of a bundle.
// @param bundle the one payload that all of them are in.
// @param end of the bundle's header.
void read_bundle(
    const void* image,
    std::size_t at,
    std::size_t end,
    const Entry& bundle,
    std::vector<Entry>& entries) {
  const std::size_t table = at + kSmallestEntryHeader;
  constexpr std::size_t kTableHeader = 2 * sizeof(std::uint32_t);
  if (end - table < kTableHeader) {
    fail("a bundle without a table", table);
  }
  const std::uint64_t count = read<std::uint32_t>(image, table);
  const std::uint64_t bytes = read<std::uint32_t>(image, table + 4);
  if (bytes < kTableHeader || bytes > end - table) {
    fail(
        "a table of " + std::to_string(bytes) + " bytes where there are " +
            std::to_string(end - table),
        table + 4);
  }
  const std::uint64_t unpacked = bundle.compression == Entry::Compression::kNone
      ? bundle.size
      : bundle.uncompressed_size;
  std::size_t place = table + kTableHeader;
  std::uint64_t left = bytes - kTableHeader;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t header = left < kSmallestEntryHeader
        ? left + 1
        : bundled_header_size(image, place, left);
    if (header > left) {
      fail("an entry of a bundle that is cut off", place);
    }
    Entry entry = bundle;
    read_identity(image, place, entry);
    entry.part_offset = read<std::uint32_t>(image, place + 4);
    const auto size = read<std::uint64_t>(image, place + 8);
    if (entry.part_offset > unpacked || size > unpacked - entry.part_offset) {
      fail(
          "an entry of " + std::to_string(size) + " bytes at " +
              std::to_string(entry.part_offset) + " of a bundle of " +
              std::to_string(unpacked),
          place + 8);
    }
    entry.part_size = size;
    entries.push_back(entry);
    place += header;
    left -= header;
  }
  if (left != 0) {
    fail(std::to_string(left) + " bytes behind a bundle's entries", place);
  }
}

// Room for what an entry says that it holds, if so much can be in it.
std::string room_for(
    const Entry& entry,
    const char* format,
    std::uint64_t ratio,
    std::uint64_t slack) {
  constexpr std::size_t kLargest = LZ4_MAX_INPUT_SIZE;
  if (entry.size > kLargest || entry.uncompressed_size > kLargest ||
      entry.uncompressed_size > entry.size * ratio + slack) {
    fail(
        std::to_string(entry.size) + " bytes of " + format +
            " data cannot hold " + std::to_string(entry.uncompressed_size),
        entry.offset);
  }
  return std::string(entry.uncompressed_size, '\0');
}

std::string text_of_lz4(const char* payload, const Entry& entry) {
  std::string text = room_for(entry, "LZ4", kLz4Ratio, kLz4Slack);
  int written = LZ4_decompress_safe(
      payload,
      text.data(),
      static_cast<int>(entry.size),
      static_cast<int>(text.size()));
  if (written < 0 || static_cast<std::size_t>(written) != text.size()) {
    fail("LZ4 data that does not unpack", entry.offset);
  }
  return text;
}

std::string text_of_zstd(const char* payload, const Entry& entry) {
  std::string text = room_for(entry, "zstd", kZstdRatio, 0);
  if (!unpack_zstd(payload, entry.size, text)) {
    fail("zstd data that does not unpack", entry.offset);
  }
  return text;
}

std::string part_of(std::string unpacked, const Entry& entry) {
  return entry.part_size == unpacked.size()
      ? std::move(unpacked)
      : unpacked.substr(entry.part_offset, entry.part_size);
}

} // namespace

std::string Entry::architecture_name() const {
  const char* const suffix = variant == Variant::kExact ? "a"
      : variant == Variant::kFamily                     ? "f"
                                                        : "";
  return std::to_string(architecture) + suffix;
}

bool Entry::is_ptx_for(std::uint32_t capability) const {
  if (kind != Kind::kPtx || architecture > capability) {
    return false;
  }
  switch (variant) {
    case Variant::kExact:
      return architecture == capability;
    case Variant::kFamily:
      return architecture / 10 == capability / 10;
    case Variant::kLater:
      break;
  }
  return true;
}

std::string list_text(const std::vector<Entry>& entries) {
  std::string names;
  for (const Entry& entry : entries) {
    if (entry.kind == Entry::Kind::kOther) {
      continue;
    }
    names += names.empty() ? "" : ", ";
    switch (entry.kind) {
      case Entry::Kind::kPtx:
        names += "PTX for compute_";
        break;
      case Entry::Kind::kElf:
        names += "machine code for sm_";
        break;
      default:
        names += "LTO IR for lto_";
    }
    names += entry.architecture_name();
  }
  return names.empty() ? "nothing" : names;
}

std::size_t image_size(const void* image) {
  return checked_image_size(image, kUnknownSize);
}

std::vector<Entry> list_entries(const void* image, std::size_t size) {
  std::size_t end = checked_image_size(image, size);
  std::size_t at = read<std::uint16_t>(image, 6);
  std::vector<Entry> entries;
  while (at < end) {
    if (end - at < kSmallestEntryHeader) {
      fail("an entry that is cut off", at);
    }
    std::size_t header = read<std::uint32_t>(image, at + 4);
    std::uint64_t payload = read<std::uint64_t>(image, at + 8);
    if (header < kSmallestEntryHeader || header > end - at) {
      fail(
          "an entry with a header of " + std::to_string(header) + " bytes", at);
    }
    if (payload > end - at - header) {
      fail(
          "an entry of " + std::to_string(payload) + " bytes where " +
              std::to_string(end - at - header) + " are left",
          at);
    }
    Entry entry;
    entry.offset = at + header;
    entry.size = payload;
    read_compression(image, at, payload, entry);
    if (read<std::uint16_t>(image, at) == kBundleKind) {
      read_bundle(image, at, at + header, entry, entries);
    } else {
      read_identity(image, at, entry);
      entry.part_size = entry.compression == Entry::Compression::kNone
          ? entry.size
          : entry.uncompressed_size;
      entries.push_back(entry);
    }
    at += header + payload;
  }
  return entries;
}

std::string unpack(const void* image, const Entry& entry) {
  const char* payload = static_cast<const char*>(image) + entry.offset;
  switch (entry.compression) {
    case Entry::Compression::kLz4:
      return part_of(text_of_lz4(payload, entry), entry);
    case Entry::Compression::kZstd:
      return part_of(text_of_zstd(payload, entry), entry);
    case Entry::Compression::kNone:
      break;
  }
  return std::string(payload + entry.part_offset, entry.part_size);
}

bool is_lto_ir(const void* image, std::size_t bytes) {
  constexpr char kMagic[] = {'\xed', 'C', 'N', '\x7f'};
  return bytes >= sizeof(kMagic) &&
      std::memcmp(image, kMagic, sizeof(kMagic)) == 0;
}

std::string lto_ir_text() {
  // cuda.h, at CU_JIT_INPUT_NVVM.
  return "found LTO IR, and CUDA's driver takes that of toolkits before 12.0 "
         "only: link it by nvJitLink with -lto";
}

std::string no_ptx_text(std::uint32_t capability, const std::string& found) {
  const std::string number = std::to_string(capability);
  return "no PTX for a device of compute capability " +
      std::to_string(capability / 10) + "." + std::to_string(capability % 10) +
      ": " + found + "; compile with nvcc -gencode arch=compute_" + number +
      ",code=compute_" + number;
}

std::string select_ptx(
    const void* image,
    std::uint32_t capability,
    std::size_t size) {
  std::vector<Entry> entries = list_entries(image, size);
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (entry.is_ptx_for(capability) &&
        (best == nullptr ||
         std::pair(entry.architecture, entry.variant) >
             std::pair(best->architecture, best->variant))) {
      best = &entry;
    }
  }
  if (best == nullptr) {
    throw FatbinError(
        no_ptx_text(capability, "the fat binary has " + list_text(entries)));
  }
  std::string text = unpack(image, *best);
  // Padding, and the NUL of the text.
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  return text;
}

} // namespace accelerator::fatbin
