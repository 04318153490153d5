#include "runtime/core/backends/backends.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>
#include <unistd.h>

#include "device/abi/library.h"
#include "device/host/environment.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {
namespace {

using accelerator::Library;

constexpr const char* kDevices = "TORCH_CUDA_DEVICES";
constexpr const char* kSim = "TORCH_CUDA_SIM";

struct Entry {
  std::string library; // a name or a path
  std::string options;
};

std::vector<const accel_api*>& linked_in() {
  static auto* all = new std::vector<const accel_api*>;
  return *all;
}

// The name of the one whose devices are there where nothing names any.
std::string& default_library() {
  static auto* name = new std::string;
  return *name;
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
  std::string beside = own.substr(0, own.rfind('/') + 1) + file;
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

// As torch_cuda reads the variable.
bool asks_for_sim() {
  std::string value = accelerator::host::variable(kSim).value_or("");
  std::transform(
      value.begin(), value.end(), value.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
      });
  const auto no = {"", "0", "false", "no", "off"};
  return std::find(no.begin(), no.end(), value) == no.end();
}

// What names the devices.
std::string asked_for() {
  const auto devices = accelerator::host::variable(kDevices);
  if (devices && !devices->empty()) {
    return *devices;
  }
  if (asks_for_sim()) {
    return "sim";
  }
  if (default_library().empty()) {
    throw accelerator::LibraryError(
        "found no devices; set TORCH_CUDA_DEVICES to the name of a device or the "
        "path of its library, such as TORCH_CUDA_DEVICES=fake");
  }
  return default_library();
}

std::vector<Slot> make_slots() {
  std::vector<Slot> slots;
  for (const Entry& entry : parse(asked_for())) {
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

bool register_library(accel_get_api_function get_api, bool is_default) {
  linked_in().push_back(get_api(ACCEL_ABI_VERSION));
  if (is_default) {
    default_library() = linked_in().back()->name;
  }
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
