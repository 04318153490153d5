// libzstd is looked up when the first such image comes, instead of linked:
// every distribution has it, as its package manager is linked with it.
#include "runtime/code/fatbin/zstd.h"

#include <dlfcn.h>

#include "runtime/code/fatbin/fatbin.h"

namespace accelerator::fatbin {
namespace {

// ZSTD_decompress and ZSTD_isError of zstd.h, both of its stable API.
using Decompress = std::size_t(void*, std::size_t, const void*, std::size_t);
using IsError = unsigned(std::size_t);

struct Library {
  Decompress* decompress = nullptr;
  IsError* is_error = nullptr;

  Library() {
    // Never unloaded: fat binaries come until the process ends.
    void* handle = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return;
    }
    decompress =
        reinterpret_cast<Decompress*>(dlsym(handle, "ZSTD_decompress"));
    is_error = reinterpret_cast<IsError*>(dlsym(handle, "ZSTD_isError"));
  }
};

} // namespace

bool unpack_zstd(const char* data, std::size_t size, std::string& text) {
  static const Library library;
  if (library.decompress == nullptr || library.is_error == nullptr) {
    throw FatbinError(
        "the fat binary is compressed with zstd, and there is no "
        "libzstd.so.1: install it (Debian's libzstd1), or compile with nvcc "
        "--compress-mode=none");
  }
  std::size_t written =
      library.decompress(text.data(), text.size(), data, size);
  return library.is_error(written) == 0 && written == text.size();
}

} // namespace accelerator::fatbin
