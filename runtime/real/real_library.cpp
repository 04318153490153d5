#include "runtime/real/real_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "device/host/environment.h"

namespace accelerator {
namespace {

#if defined(__aarch64__)
constexpr const char* kDebianFolder = "/usr/lib/aarch64-linux-gnu";
#else
constexpr const char* kDebianFolder = "/usr/lib/x86_64-linux-gnu";
#endif

/// The folder of this library, with a slash at its end.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0) {
    return "";
  }
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

void append_list(std::vector<std::string>& folders, const char* variable) {
  const char* value = std::getenv(variable);
  for (std::string rest = value == nullptr ? "" : value; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    folders.push_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
}

} // namespace

void* open_real(const RealLibrary& library) {
  const std::string own = own_folder();
  std::vector<std::string> folders;
  append_list(
      folders, host::renamed(library.path_variable, library.older_variable));
  append_list(folders, "TORCH_CUDA_LIBRARY_PATH");
  append_list(folders, "LD_LIBRARY_PATH");
  // This library lies in lib/ of its package, or in a folder of that.
  for (const char* site : {"../../", "../../../"}) {
    folders.push_back(own + site + "nvidia/" + library.package + "/lib");
  }
  for (const char* system :
       {kDebianFolder, "/usr/local/cuda/lib64", "/usr/lib64", "/usr/lib"}) {
    folders.emplace_back(system);
  }
  for (const std::string& folder : folders) {
    if (folder.empty() || folder + "/" == own) {
      continue;
    }
    void* opened =
        dlopen((folder + "/" + library.name).c_str(), RTLD_NOW | RTLD_LOCAL);
    // A copy of this very library is not what is looked for.
    if (opened != nullptr && dlsym(opened, library.marker) == nullptr) {
      return opened;
    }
  }
  std::fprintf(
      stderr,
      "torch_cuda: found no %s of NVIDIA, %s, or set %s to its folder\n",
      library.name,
      library.advice,
      library.path_variable);
  return nullptr;
}

} // namespace accelerator
