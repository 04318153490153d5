// Lists what nvcc embedded into a library: `unpack LIBRARY OUT` writes the text
// of all PTX into OUT and prints, separated by spaces, the number of fat
// binaries and of entries with PTX, the bytes that fat binaries take in the
// library, those of the PTX in them as stored and as text.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/code/fatbin/fatbin.h"

namespace {

namespace fatbin = accelerator::fatbin;

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kAlignment = 8;

bool is_fat_binary(const char* at) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, at, sizeof(magic));
  return magic == kMagic;
}

int list(const std::string& library, std::ofstream& out) {
  std::size_t images = 0;
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::size_t stored = 0;
  std::size_t text = 0;
  for (std::size_t at = 0; at + kAlignment <= library.size();) {
    const char* const image = library.data() + at;
    if (!is_fat_binary(image)) {
      at += kAlignment;
      continue;
    }
    ++images;
    for (const auto& entry : fatbin::list_entries(image, library.size() - at)) {
      if (entry.kind == fatbin::Entry::Kind::kPtx) {
        const std::string ptx = fatbin::unpack(image, entry);
        out << ptx;
        ++entries;
        stored += entry.size;
        text += ptx.size();
      }
    }
    const std::size_t size = fatbin::image_size(image);
    bytes += size;
    at += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::printf("%zu %zu %zu %zu %zu\n", images, entries, bytes, stored, text);
  return out.flush() ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: unpack LIBRARY OUT\n");
    return 2;
  }
  std::ifstream in(arguments[1], std::ios::binary);
  std::ofstream out(arguments[2], std::ios::binary);
  if (!in || !out) {
    std::fprintf(
        stderr, "cannot read %s or write %s\n", arguments[1], arguments[2]);
    return 2;
  }
  try {
    return list({std::istreambuf_iterator<char>(in), {}}, out);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", arguments[1], error.what());
    return 1;
  }
}
