#include "runtime/core/machine/settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "device/host/environment.h"
#include "runtime/core/backends/api_status.h"
#include "runtime/core/backends/backends.h"
#include "runtime/core/machine/properties.h"

namespace accelerator::runtime {
namespace {

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

// The uuids of all devices there are.
std::vector<std::string> read_uuids() {
  std::vector<std::string> uuids;
  for (const Slot& slot : all_devices()) {
    accel_properties figures{};
    figures.struct_size = sizeof(figures);
    check(*slot.api, slot.api->device_properties(slot.index, &figures));
    uuids.push_back(uuid_text(figures.uuid));
  }
  return uuids;
}

} // namespace

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
  using accelerator::host::read_count;
  using accelerator::host::read_switch;
  using accelerator::host::renamed;
  Settings settings;
  try {
    settings.launch_blocking = read_switch("CUDA_LAUNCH_BLOCKING", false);
    settings.timeout_seconds = static_cast<double>(read_count(
        renamed("TORCH_CUDA_TIMEOUT", "CUDASIM_TIMEOUT"), 600, 0, 1'000'000));
  } catch (const std::invalid_argument& wrong) {
    throw Failure(cudaErrorInitializationError, wrong.what());
  }
  const auto devices = static_cast<int>(all_devices().size());
  if (const auto visible =
          accelerator::host::variable("CUDA_VISIBLE_DEVICES")) {
    settings.visible = parse_visible_devices(*visible, devices, read_uuids());
  } else {
    for (int number = 0; number < devices; ++number) {
      settings.visible.push_back(number);
    }
  }
  return settings;
}

} // namespace accelerator::runtime
