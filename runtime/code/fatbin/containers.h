// Finds PTX in the files that linkers take: objects of the host, which nvcc
// puts fat binaries into, and archives of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelerator::fatbin {

/// PTX of one fat binary, and where it was found: "x.o", "libx.a(x.o)".
struct FoundPtx {
  std::string name;
  std::string ptx;
};

/// The PTX that a device of `capability` would compile, from an object file
/// (ELF), an archive, a fat binary, or text; of an archive that of all members.
/// What has machine code alone gives none.
/// @param name of the file.
/// @throws FatbinError (fatbin.h) for what is cut off or contradicts itself.
std::vector<FoundPtx> find_ptx(
    std::string_view file,
    const std::string& name,
    std::uint32_t capability);

/// Whether such a file has code for devices, and LTO IR among it.
struct DeviceCode {
  bool any = false;
  bool lto_ir = false;
};

/// @throws FatbinError as find_ptx does.
DeviceCode find_code(std::string_view file, const std::string& name);

} // namespace accelerator::fatbin
