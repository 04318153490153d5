// The format is not documented by NVIDIA; what is used here was read off images
// that nvcc 12.4 wrote, plain and with -Xfatbin -compress-all, and those that
// fatbinary 13.5 wrote, which compresses with zstd unless told otherwise:
//
//   header of the image, 16 bytes: magic, version (u16), size of this header
//   (u16), bytes of the entries (u64); then entries, each with a header:
//     0  kind (u16): 1 PTX, 2 ELF      28 architecture (u32), 80 for 8.0
//     4  size of this header (u32)     40 flags (u64)
//     8  bytes of the payload (u64)    56 bytes when unpacked (u64)
//    16  bytes of it that are compressed data (u32); the rest is padding
#include "accelerator/runtime/fatbin/fatbin.h"

#include <lz4.h>

#include <cstring>
#include <limits>

#include "accelerator/runtime/fatbin/zstd.h"

namespace accelerator::fatbin {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kHeaderSize = 16;
constexpr std::size_t kSmallestEntryHeader = 64;
constexpr std::uint16_t kPtxKind = 1;
constexpr std::uint16_t kElfKind = 2;
constexpr std::uint64_t kLz4Flag = 0x2000;
constexpr std::uint64_t kZstdFlag = 0x8000;
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

} // namespace

std::string list_text(const std::vector<Entry>& entries) {
  std::string names;
  for (const Entry& entry : entries) {
    if (entry.kind == Entry::Kind::kOther) {
      continue;
    }
    names += names.empty() ? "" : ", ";
    names += entry.kind == Entry::Kind::kPtx ? "PTX for compute_"
                                             : "machine code for sm_";
    names += std::to_string(entry.architecture);
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
    entry.kind = kind_of(read<std::uint16_t>(image, at));
    entry.architecture = read<std::uint32_t>(image, at + 28);
    entry.offset = at + header;
    entry.size = payload;
    read_compression(image, at, payload, entry);
    entries.push_back(entry);
    at += header + payload;
  }
  return entries;
}

std::string unpack(const void* image, const Entry& entry) {
  const char* payload = static_cast<const char*>(image) + entry.offset;
  switch (entry.compression) {
    case Entry::Compression::kLz4:
      return text_of_lz4(payload, entry);
    case Entry::Compression::kZstd:
      return text_of_zstd(payload, entry);
    case Entry::Compression::kNone:
      break;
  }
  return std::string(payload, entry.size);
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
    if (entry.kind == Entry::Kind::kPtx && entry.architecture <= capability &&
        (best == nullptr || entry.architecture > best->architecture)) {
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
