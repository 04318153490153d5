// Finds NVIDIA's own library behind one that takes its name: compilers and
// linkers need no GPU.
#pragma once

#include <string>

namespace accelerator {

struct RealLibrary {
  const char* name; // "libnvrtc.so.12"
  const char* marker; // a function that only the library in its place has
  const char* path_variable; // folders that are searched first
  const char* older_variable; // what that was called before
  const char* package; // its folder beside this package: "cuda_nvrtc"
  const char* advice; // what to install
};

/// Opens it: looked for where torch_cuda looks for CUDA's libraries, beside
/// this package, and on the system. Null when there is none, which stderr is
/// told. To be called once.
void* open_real(const RealLibrary& library);

} // namespace accelerator
