#include "device/host/loaded_library.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace accelerator::host {
namespace {

/// The libraries, as long as none is loaded or unloaded.
struct Libraries {
  std::mutex mutex;
  unsigned long long changes = 0;
  std::vector<LoadedLibrary> all;
};

Libraries& libraries() {
  static auto* const instance = new Libraries; // libraries unload late
  return *instance;
}

/// The program itself, whose entry has no name.
std::string program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

/// Called for each library: 1 ends the search.
int add(dl_phdr_info* info, std::size_t, void* data) {
  auto& known = *static_cast<Libraries*>(data);
  const auto changes = info->dlpi_adds + info->dlpi_subs;
  if (known.changes != changes) {
    known.all.clear();
    known.changes = changes;
  } else if (
      !known.all.empty() &&
      known.all.front().begin <=
          reinterpret_cast<std::uintptr_t>(info->dlpi_phdr) &&
      reinterpret_cast<std::uintptr_t>(info->dlpi_phdr) <
          known.all.front().end) {
    return 1; // the first one is known, and so are all
  }
  LoadedLibrary library{UINTPTR_MAX, 0, info->dlpi_name};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      library.begin = std::min<std::uintptr_t>(library.begin, begin);
      library.end =
          std::max<std::uintptr_t>(library.end, begin + segment.p_memsz);
    }
  }
  if (library.path.empty()) {
    library.path = program();
  }
  known.all.push_back(std::move(library));
  return 0;
}

} // namespace

std::optional<LoadedLibrary> loaded_library(const void* address) {
  Libraries& known = libraries();
  const std::lock_guard lock(known.mutex);
  dl_iterate_phdr(&add, &known);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const LoadedLibrary& library : known.all) {
    if (library.begin <= at && at < library.end) {
      return library;
    }
  }
  return std::nullopt;
}

} // namespace accelerator::host
