// Which loaded library an address lies in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace accelerator::host {

/// A library of this process, or its program.
struct LoadedLibrary {
  std::uintptr_t begin = 0; // where it is loaded
  std::uintptr_t end = 0; // behind its last segment
  std::string path;
};

/// The library that an address lies in. Unlike dladdr, which goes through all
/// symbols of a library for the nearest, it takes no longer for large ones.
/// @returns none for an address of no library.
std::optional<LoadedLibrary> loaded_library(const void* address);

} // namespace accelerator::host
