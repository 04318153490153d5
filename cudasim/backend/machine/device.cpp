#include "cudasim/backend/machine/device.h"

#include <algorithm>
#include <string>

#include "cudasim/backend/machine/gpu_models.h"
#include "cudasim/backend/machine/settings.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {

Device::Device(int ordinal, const Settings& settings, AddressMap& addresses)
    : ordinal_(ordinal),
      properties_(make_properties(settings, ordinal)),
      addresses_(addresses),
      memory_(
          addresses,
          ordinal,
          settings.memory,
          settings.check,
          settings.padding) {}

engine::DeviceHeap& Device::heap() const {
  return addresses_.view(ordinal_).heap();
}

engine::TextureTable& Device::textures() const {
  return addresses_.view(ordinal_).textures();
}

engine::DeviceView Device::view() const {
  engine::DeviceView view;
  view.ordinal = ordinal_;
  view.compute_capability =
      static_cast<std::uint32_t>(properties_.major * 10 + properties_.minor);
  view.multiprocessors =
      static_cast<std::uint32_t>(properties_.multiprocessors);
  view.max_shared_bytes = properties_.shared_per_block_optin;
  view.memory = &addresses_.view(ordinal_);
  return view;
}

std::shared_ptr<Stream> Device::create_stream() {
  auto stream = std::make_shared<Stream>(*this);
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  return stream;
}

void Device::remove_stream(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      streams_.begin(), streams_.end(), [&](const auto& candidate) {
        return candidate.get() == &stream;
      });
  if (found == streams_.end()) {
    return;
  }
  (*found)->close();
  ending_.push_back(std::move(*found));
  streams_.erase(found);
  ending_.erase(
      std::remove_if(
          ending_.begin(),
          ending_.end(),
          [](const auto& candidate) { return candidate->idle(); }),
      ending_.end());
}

std::vector<std::shared_ptr<Stream>> Device::streams() const {
  const std::lock_guard lock(mutex_);
  auto all = streams_;
  all.insert(all.end(), ending_.begin(), ending_.end());
  return all;
}

void Device::synchronize() const {
  for (const auto& stream : streams()) {
    stream->synchronize();
  }
}

void Device::require_health() const {
  if (const accel_status found = fault()) {
    throw Error(
        found,
        "device " + std::to_string(ordinal_) +
            " is at fault until device_reset");
  }
}

void Device::set_fault(accel_status status) {
  accel_status well = ACCEL_OK;
  fault_.compare_exchange_strong(well, status);
}

void Device::reset() {
  synchronize();
  fault_ = ACCEL_OK;
  addresses_.forget_peers(ordinal_);
  memory_.reset();
  heap().reset();
  textures().clear();
}

} // namespace cudasim::backend
