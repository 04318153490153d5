#include "cudasim/device/backends/backends.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <sstream>

#include <dlfcn.h>

#include "accelerator/host/environment.h"
#include "cudasim/device/backends/api_status.h"

namespace cudasim::device {
namespace {

struct Entry {
  std::string library; // a name or a path
  std::string options;
};

std::vector<const accel_api*>& linked_in() {
  static auto* all = new std::vector<const accel_api*>;
  return *all;
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

[[noreturn]] void fail(const Entry& entry, const std::string& reason) {
  throw Failure(
      cudaErrorInitializationError,
      "the device library " + entry.library + " cannot be used: " + reason);
}

// Where a library of that name lies when it is not linked in: beside this one.
std::string path_of(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&all_devices), &info);
  const std::string own = info.dli_fname == nullptr ? "" : info.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + "libaccel_" + name + ".so";
}

const accel_api* open(const Entry& entry) {
  for (const accel_api* api : linked_in()) {
    if (entry.library == api->name) {
      return api;
    }
  }
  void* library = dlopen(path_of(entry.library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(entry, dlerror());
  }
  const auto get_api = reinterpret_cast<accel_get_api_function>(
      dlsym(library, ACCEL_ENTRY_POINT));
  const accel_api* api =
      get_api == nullptr ? nullptr : get_api(ACCEL_ABI_VERSION);
  if (api == nullptr || api->abi_version != ACCEL_ABI_VERSION ||
      !ACCEL_HAS_MEMBER(accel_api, api->struct_size, event_synchronize)) {
    fail(
        entry,
        "it has no " ACCEL_ENTRY_POINT " that serves version " +
            std::to_string(ACCEL_ABI_VERSION) +
            " of the device ABI: build it against accelerator/abi/device_api.h");
  }
  return api;
}

std::vector<const accel_api*>& opened() {
  static auto* all = new std::vector<const accel_api*>;
  return *all;
}

// The struct of a library, of whatever age, with all members that are known
// here: those that it has not are null.
const accel_api* complete(const accel_api* api) {
  auto* whole = new accel_api{}; // lives as long as the process
  std::copy_n(
      reinterpret_cast<const char*>(api),
      std::min(api->struct_size, sizeof(*whole)),
      reinterpret_cast<char*>(whole));
  return whole;
}

std::vector<Slot> make_slots() {
  std::vector<Slot> slots;
  for (const Entry& entry : parse(
           accelerator::host::variable("TORCH_CUDA_DEVICES").value_or("sim"))) {
    const accel_api* api = complete(open(entry));
    for (const accel_api* other : opened()) {
      if (std::string(other->name) == api->name) {
        fail(entry, "it is named twice; write NAME:COUNT for several devices");
      }
    }
    if (api->initialize(entry.options.c_str()) != ACCEL_OK) {
      throw Failure(cudaErrorInitializationError, api->last_error());
    }
    opened().push_back(api);
    std::int32_t count = 0;
    check(*api, api->device_count(&count));
    for (int index = 0; index < count; ++index) {
      slots.push_back({api, index});
    }
  }
  return slots;
}

} // namespace

bool register_library(accel_get_api_function get_api) {
  linked_in().push_back(get_api(ACCEL_ABI_VERSION));
  return true;
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
    } catch (const Failure& wrong) {
      failure = wrong.message();
      throw;
    }
  }
  return *slots;
}

void finalize_libraries() noexcept {
  for (const accel_api* api : opened()) {
    api->finalize();
  }
}

} // namespace cudasim::device
