// Opens a device library, and says what it is:
//   describe PATH OPTIONS
// The first line is its name; each device has a line with its capabilities,
// commas between them, a tab, and its name. What is wrong with the library is
// one message, and exit status 2.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "device/abi/library.h"

namespace {

std::string capabilities(std::uint64_t bits) {
  std::string text;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    if ((bits & one) == 0 || one > ACCEL_CAP_TEXTURES)
      continue;
    text += (text.empty() ? "" : ",") +
        accelerator::name_of(static_cast<accel_capability>(one));
  }
  return text;
}

// One line, whatever a library gives.
std::string line(std::string name) {
  for (char& each : name)
    if (std::iscntrl(static_cast<unsigned char>(each)))
      each = '?';
  return name;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: describe PATH OPTIONS\n");
    return 2;
  }
  try {
    accelerator::Library library(argv[1]);
    library.initialize(argv[2]);
    std::printf("%s\n", line(library.api().name).c_str());
    for (const accel_properties& device : library.devices())
      std::printf(
          "%s\t%s\n",
          capabilities(device.capabilities).c_str(),
          line(device.name).c_str());
    return 0;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 2;
  }
}
