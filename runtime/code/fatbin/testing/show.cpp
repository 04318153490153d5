// Writes what is in a fat binary, for a test in Python: of each entry a line
// "KIND ARCHITECTURE BYTES", what it unpacks to, and a new line. Behind them,
// for each device that is named, a line "pick CAPABILITY BYTES" and the PTX
// that it would compile, or "pick CAPABILITY none".
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "runtime/code/fatbin/fatbin.h"

namespace fatbin = accelerator::fatbin;

namespace {

const char* name_of(fatbin::Entry::Kind kind) {
  switch (kind) {
    case fatbin::Entry::Kind::kPtx:
      return "ptx";
    case fatbin::Entry::Kind::kElf:
      return "elf";
    case fatbin::Entry::Kind::kLtoIr:
      return "lto";
    default:
      return "other";
  }
}

} // namespace

int main(int argc, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  try {
    for (const auto& entry : fatbin::list_entries(image.data(), image.size())) {
      // What LTO IR unpacks to is NVIDIA's.
      const std::string content = entry.kind == fatbin::Entry::Kind::kLtoIr
          ? ""
          : fatbin::unpack(image.data(), entry);
      std::cout << name_of(entry.kind) << ' ' << entry.architecture_name()
                << ' ' << content.size() << '\n'
                << content << '\n';
    }
    for (int i = 2; i < argc; ++i) {
      std::cout << "pick " << argv[i] << ' ';
      try {
        const std::string ptx = fatbin::select_ptx(
            image.data(),
            static_cast<std::uint32_t>(std::atoi(argv[i])),
            image.size());
        std::cout << ptx.size() << '\n' << ptx << '\n';
      } catch (const fatbin::DamagedError&) {
        throw;
      } catch (const fatbin::FatbinError&) {
        std::cout << "none\n\n";
      }
    }
  } catch (const fatbin::FatbinError& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
