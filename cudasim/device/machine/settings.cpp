#include "cudasim/device/machine/settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "cudasim/device/machine/profiles.h"
#include "cudasim/device/status/status.h"

namespace cudasim::device {
namespace {

constexpr int kMaxDevices = 16;

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  return std::string(value);
}

[[noreturn]] void reject(
    const char* name,
    const std::string& value,
    const std::string& allowed) {
  throw Failure(
      cudaErrorInitializationError,
      std::string(name) + "=" + value + " is not allowed: " + allowed);
}

bool read_switch(const char* name, bool fallback) {
  const auto value = variable(name);
  if (!value || value->empty()) {
    return fallback;
  }
  if (*value != "0" && *value != "1") {
    reject(name, *value, "write 0 or 1");
  }
  return *value == "1";
}

long read_count(const char* name, long fallback, long least, long most) {
  const auto value = variable(name);
  if (!value || value->empty()) {
    return fallback;
  }
  char* end = nullptr;
  const long count = std::strtol(value->c_str(), &end, 10);
  if (*end != '\0' || count < least || count > most) {
    reject(
        name,
        *value,
        "write a number from " + std::to_string(least) + " to " +
            std::to_string(most));
  }
  return count;
}

// What the control group of a container leaves may be less than what is built
// into the machine.
std::uint64_t host_memory() {
  std::uint64_t bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::uint64_t allowed = 0;
  if (limit >> allowed && allowed > 0) {
    bytes = std::min(bytes, allowed);
  }
  return bytes;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text) {
    if (c == ',') {
      parts.push_back(part);
      part.clear();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      part += c;
    }
  }
  parts.push_back(part);
  return parts;
}

} // namespace

std::optional<std::uint64_t> parse_size(const std::string& text) {
  char* end = nullptr;
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) {
    return std::nullopt;
  }
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  const std::string unit(end);
  int shift = 0;
  if (!unit.empty()) {
    const std::string units = "KMGT";
    const auto at = units.find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    const bool suffix =
        unit.size() == 1 || unit.substr(1) == "iB" || unit.substr(1) == "B";
    if (at == std::string::npos || !suffix) {
      return std::nullopt;
    }
    shift = 10 * (static_cast<int>(at) + 1);
  }
  if (number == 0 || number > (std::uint64_t{1} << 46) >> shift) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(number) << shift;
}

std::vector<int> parse_visible_devices(
    const std::string& text,
    int devices,
    const std::vector<std::string>& uuids) {
  std::vector<int> visible;
  for (const std::string& part : split(text)) {
    int ordinal = -1;
    if (!part.empty() &&
        std::isdigit(static_cast<unsigned char>(part[0])) != 0) {
      char* end = nullptr;
      const long number = std::strtol(part.c_str(), &end, 10);
      ordinal =
          *end == '\0' && number < devices ? static_cast<int>(number) : -1;
    } else if (part.size() > 4 && part.compare(0, 4, "GPU-") == 0) {
      const auto matches = [&](const std::string& uuid) {
        return uuid.compare(0, part.size(), part) == 0;
      };
      if (std::count_if(uuids.begin(), uuids.end(), matches) == 1) {
        ordinal = static_cast<int>(
            std::find_if(uuids.begin(), uuids.end(), matches) - uuids.begin());
      }
    }
    if (ordinal < 0) {
      break;
    }
    // A device that is named twice makes CUDA see none at all.
    if (std::find(visible.begin(), visible.end(), ordinal) != visible.end()) {
      return {};
    }
    visible.push_back(ordinal);
  }
  return visible;
}

Settings read_settings() {
  Settings settings;
  if (const auto profile = variable("CUDASIM_PROFILE")) {
    if (find_profile(*profile) == nullptr) {
      reject("CUDASIM_PROFILE", *profile, "write " + profile_names());
    }
    settings.profile = *profile;
  }
  settings.devices =
      static_cast<int>(read_count("CUDASIM_DEVICES", 1, 0, kMaxDevices));
  settings.memory =
      std::max<std::uint64_t>(host_memory() / 2, std::uint64_t{1} << 30);
  if (const auto memory = variable("CUDASIM_MEMORY")) {
    const auto bytes = parse_size(*memory);
    if (!bytes) {
      reject("CUDASIM_MEMORY", *memory, "write a size such as 512M or 8G");
    }
    settings.memory = *bytes;
  }
  settings.synchronous = read_switch("CUDASIM_SYNC", false);
  settings.check = read_switch("CUDASIM_CHECK", false);
  settings.launch_blocking = read_switch("CUDA_LAUNCH_BLOCKING", false);
  const long processors = std::max(1u, std::thread::hardware_concurrency());
  settings.workers =
      static_cast<unsigned>(read_count("CUDASIM_WORKERS", processors, 1, 1024));
  if (settings.synchronous) {
    settings.workers = 1;
  }
  settings.timeout_seconds =
      static_cast<double>(read_count("CUDASIM_TIMEOUT", 600, 0, 1'000'000));
  std::vector<std::string> uuids;
  for (int ordinal = 0; ordinal < settings.devices; ++ordinal) {
    uuids.push_back(device_uuid_text(ordinal));
  }
  if (const auto visible = variable("CUDA_VISIBLE_DEVICES")) {
    settings.visible = parse_visible_devices(*visible, settings.devices, uuids);
  } else {
    for (int ordinal = 0; ordinal < settings.devices; ++ordinal) {
      settings.visible.push_back(ordinal);
    }
  }
  return settings;
}

} // namespace cudasim::device
