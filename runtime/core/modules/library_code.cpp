#include "runtime/core/modules/library_code.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <sstream>
#include <vector>

#include "device/host/loaded_library.h"
#include "runtime/code/fatbin/fatbin.h"
#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"

namespace accelerator::runtime {
namespace {

struct Noted {
  std::mutex mutex;
  std::vector<Module::Image> images;
};

Noted& noted() {
  static auto* all = new Noted; // libraries unload late
  return *all;
}

// Where the library begins that an address is in; null: in none.
const void* library_of(const void* address) {
  const auto library = host::loaded_library(address);
  return library ? reinterpret_cast<const void*>(library->begin) : nullptr;
}

// What a library has is told where no device runs PTX, too.
constexpr auto kAnyCapability = std::numeric_limits<std::uint32_t>::max();

// The lowest capability of the devices that run PTX.
std::uint32_t lowest_capability() {
  std::uint32_t lowest = kAnyCapability;
  for (int i = 0; i < machine().device_count(); ++i) {
    const Device& device = machine().device(i);
    if (device.can(ACCEL_CAP_CODE)) {
      lowest = std::min<std::uint32_t>(lowest, device.capability());
    }
  }
  return lowest;
}

bool has_ptx(const void* fat_binary, std::uint32_t capability) {
  try {
    const auto entries = fatbin::list_entries(fat_binary);
    return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
      return capability == kAnyCapability
          ? entry.kind == fatbin::Entry::Kind::kPtx
          : entry.is_ptx_for(capability);
    });
  } catch (const fatbin::FatbinError&) {
    return false; // a launch says what is wrong with it
  }
}

bool has_ptx(const Module::Image& image, std::uint32_t capability) {
  if (has_ptx(image.fat_binary, capability)) {
    return true;
  }
  const void* const* part = image.parts;
  while (part != nullptr && *part != nullptr && !has_ptx(*part, capability)) {
    ++part;
  }
  return part != nullptr && *part != nullptr;
}

} // namespace

std::string place_of_code(const Module::Image& image) {
  const auto library = host::loaded_library(image.fat_binary);
  if (!library) {
    return "fat binary";
  }
  std::ostringstream place;
  place << library->path.substr(library->path.rfind('/') + 1) << "+0x"
        << std::hex
        << reinterpret_cast<std::uintptr_t>(image.fat_binary) - library->begin;
  return place.str();
}

void note_library_code(const Module::Image& image) {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  all.images.push_back(image);
}

void forget_library_code(const Module::Image& image) {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  const auto found = std::find_if(
      all.images.begin(), all.images.end(), [&](const Module::Image& one) {
        return one.fat_binary == image.fat_binary && one.parts == image.parts;
      });
  if (found != all.images.end()) {
    all.images.erase(found);
  }
}

} // namespace accelerator::runtime

int accelerator_library_has_ptx(const void* address) {
  using namespace accelerator::runtime;
  const void* library = library_of(address);
  const std::uint32_t capability = lowest_capability();
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  int answer = -1;
  for (const Module::Image& image : all.images) {
    if (library != nullptr && library_of(image.fat_binary) == library) {
      if (has_ptx(image, capability)) {
        return 1;
      }
      answer = 0;
    }
  }
  return answer;
}
