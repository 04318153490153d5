#include "accelerator/runtime/core/backends/backends.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>
#include <unistd.h>

#include "accelerator/abi/library.h"
#include "accelerator/host/environment.h"
#include "accelerator/runtime/core/status/status.h"

namespace accelerator::runtime {
namespace {

using accelerator::Library;

struct Entry {
  std::string library; // a name or a path
  std::string options;
};

std::vector<const accel_api*>& linked_in() {
  static auto* all = new std::vector<const accel_api*>;
  return *all;
}

std::map<std::string, std::string>& announced() {
  static auto* paths = new std::map<std::string, std::string>;
  return *paths;
}

std::vector<Entry> parse(const std::string& text) {
  std::vector<Entry> entries;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t colon = part.find(':');
    Entry entry{part.substr(0, colon), ""};
    if (colon != std::string::npos) {
      entry.options = part.substr(colon + 1);
      if (!entry.options.empty() &&
          std::all_of(
              entry.options.begin(), entry.options.end(), [](unsigned char c) {
                return std::isdigit(c) != 0;
              })) {
        entry.options = "count=" + entry.options;
      }
      // Commas are between entries.
      std::replace(entry.options.begin(), entry.options.end(), ';', ',');
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Where a library of that name lies when it is not linked in: beside this one,
// where it was announced, or where the loader finds it.
std::string path_of(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&all_devices), &info);
  const std::string own = info.dli_fname == nullptr ? "" : info.dli_fname;
  const std::string file = "libaccel_" + name + ".so";
  const std::string beside = own.substr(0, own.rfind('/') + 1) + file;
  if (access(beside.c_str(), F_OK) == 0) {
    return beside;
  }
  const auto other = announced().find(name);
  return other == announced().end() ? file : other->second;
}

std::unique_ptr<Library> open(const Entry& entry) {
  for (const accel_api* api : linked_in()) {
    if (entry.library == api->name) {
      return std::make_unique<Library>(entry.library, api);
    }
  }
  return std::make_unique<Library>(path_of(entry.library));
}

// In the order of their devices. Never destroyed: threads of theirs may run
// until the process has ended.
std::vector<std::unique_ptr<Library>>& opened() {
  static auto* all = new std::vector<std::unique_ptr<Library>>;
  return *all;
}

std::vector<Slot> make_slots() {
  std::vector<Slot> slots;
  for (const Entry& entry : parse(
           accelerator::host::variable("TORCH_CUDA_DEVICES").value_or("sim"))) {
    auto library = open(entry);
    for (const auto& other : opened()) {
      if (std::string(other->api().name) == library->api().name) {
        throw accelerator::LibraryError(
            "TORCH_CUDA_DEVICES names the device library " + entry.library +
            " twice; write " + entry.library + ":COUNT for several devices");
      }
    }
    library->initialize(entry.options);
    const auto count = static_cast<int>(library->devices().size());
    for (int index = 0; index < count; ++index) {
      slots.push_back({&library->api(), index});
    }
    opened().push_back(std::move(library));
  }
  return slots;
}

} // namespace

bool register_library(accel_get_api_function get_api) {
  linked_in().push_back(get_api(ACCEL_ABI_VERSION));
  return true;
}

void announce_library(const std::string& name, const std::string& path) {
  announced()[name] = path;
}

const std::vector<Slot>& all_devices() {
  static std::mutex mutex;
  static const std::vector<Slot>* slots = nullptr;
  static std::string failure; // every call finds the same
  const std::lock_guard lock(mutex);
  if (slots == nullptr) {
    if (!failure.empty()) {
      throw Failure(cudaErrorInitializationError);
    }
    try {
      slots = new std::vector<Slot>(make_slots());
    } catch (const std::runtime_error& wrong) {
      failure = wrong.what();
      throw Failure(cudaErrorInitializationError, failure);
    }
  }
  return *slots;
}

void finalize_libraries() noexcept {
  for (const auto& library : opened()) {
    library->finalize();
  }
}

} // namespace accelerator::runtime
