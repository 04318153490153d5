// Any bytes are a fat binary, an object, an archive or a FatbinError, and
// nothing is read outside of them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/code/fatbin/containers.h"
#include "runtime/code/fatbin/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  namespace fatbin = accelerator::fatbin;
  // A copy of exactly this size, so that the sanitizer sees its end.
  std::vector<std::uint8_t> image(data, data + size);
  image.shrink_to_fit();
  try {
    for (const fatbin::Entry& entry :
         fatbin::list_entries(image.data(), size)) {
      try {
        fatbin::unpack(image.data(), entry);
      } catch (const fatbin::FatbinError&) {
        // This entry is damaged.
      }
    }
    fatbin::select_ptx(image.data(), 90, size);
  } catch (const fatbin::FatbinError&) {
    // These bytes are no fat binary.
  }
  try {
    fatbin::find_ptx(
        {reinterpret_cast<const char*>(image.data()), size}, "file", 90);
    fatbin::find_code(
        {reinterpret_cast<const char*>(image.data()), size}, "file");
  } catch (const fatbin::FatbinError&) {
    // These bytes are neither an object nor an archive with PTX.
  }
  return 0;
}
