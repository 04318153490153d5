#include "cudasim/backend/memory/address_map.h"

#include <iterator>
#include <mutex>

#include "cudasim/backend/status/error.h"
#include "cudasim/engine/code/readable_name.h"

namespace cudasim::backend {

class AddressMap::View : public engine::AddressSpace {
 public:
  View(const AddressMap& map, int device) : map_(map), device_(device) {}

  bool find(std::uint64_t address, engine::Range* range) const override {
    const std::shared_lock lock(map_.mutex_);
    const auto above = map_.pieces_.upper_bound(address);
    if (above == map_.pieces_.begin()) {
      return false;
    }
    const Allocation& piece = std::prev(above)->second;
    if (address >= piece.end || !map_.visible(piece, device_)) {
      return false;
    }
    *range = to_range(piece);
    return true;
  }

  bool may_read_padding(
      std::uint64_t begin,
      std::uint64_t end,
      const char* kernel) const override {
    std::shared_lock lock(map_.mutex_);
    const auto above = map_.pieces_.upper_bound(begin);
    if (above == map_.pieces_.begin()) {
      return false;
    }
    const Allocation piece = std::prev(above)->second;
    lock.unlock();
    if (end < begin || end - piece.begin > piece.size() + piece.padding ||
        !map_.visible(piece, device_)) {
      return false;
    }
    const std::lock_guard reporting(map_.reporting_);
    if (map_.kernels_.insert(kernel).second) {
      report(
          "Read of the " + std::to_string(piece.padding) +
          " bytes behind the end of allocation " + std::to_string(piece.id) +
          " of " + std::to_string(piece.size()) + " bytes\n    in " +
          engine::readable_name(kernel) +
          ": CUDASIM_PADDING=read lets it, as a GPU does; it is reported once a "
          "kernel");
    }
    return true;
  }

  void neighbours(
      std::uint64_t address,
      engine::Range* below,
      engine::Range* above) const override {
    *below = {};
    *above = {};
    const std::shared_lock lock(map_.mutex_);
    const auto first_above = map_.pieces_.upper_bound(address);
    for (auto at = first_above; at != map_.pieces_.begin();) {
      --at;
      if (map_.visible(at->second, device_)) {
        *below = to_range(at->second);
        break;
      }
    }
    for (auto at = first_above; at != map_.pieces_.end(); ++at) {
      if (map_.visible(at->second, device_)) {
        *above = to_range(at->second);
        break;
      }
    }
  }

  void bump() {
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  static engine::Range to_range(const Allocation& piece) {
    return {piece.begin, piece.end, piece.id, piece.read_only};
  }

  const AddressMap& map_;
  int device_;
};

AddressMap::AddressMap(int devices)
    : devices_(devices),
      peers_(
          static_cast<std::size_t>(devices) *
          static_cast<std::size_t>(devices)) {
  for (int device = 0; device < devices; ++device) {
    views_.push_back(std::make_unique<View>(*this, device));
  }
}

AddressMap::~AddressMap() = default;

bool AddressMap::visible(const Allocation& piece, int device) const {
  if (piece.device == ACCEL_HOST || (piece.readers >> device & 1) != 0) {
    return true;
  }
  return !piece.guarded &&
      (piece.device == device || peer(device, piece.device));
}

void AddressMap::changed() {
  for (const auto& view : views_) {
    view->bump();
  }
}

std::uint64_t AddressMap::insert(Allocation allocation) {
  const std::unique_lock lock(mutex_);
  const auto above = pieces_.lower_bound(allocation.begin);
  const bool hits_above =
      above != pieces_.end() && above->second.begin < allocation.end;
  const bool hits_below = above != pieces_.begin() &&
      std::prev(above)->second.end > allocation.begin;
  require(
      !hits_above && !hits_below,
      ACCEL_ALREADY,
      "some of this memory is known already");
  allocation.id = next_id_++;
  const std::uint64_t id = allocation.id;
  pieces_.emplace(allocation.begin, std::move(allocation));
  changed();
  return id;
}

std::optional<Allocation> AddressMap::erase(std::uint64_t begin) {
  const std::unique_lock lock(mutex_);
  const auto found = pieces_.find(begin);
  if (found == pieces_.end()) {
    return std::nullopt;
  }
  Allocation piece = std::move(found->second);
  pieces_.erase(found);
  changed();
  return piece;
}

std::optional<Allocation> AddressMap::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto above = pieces_.upper_bound(address);
  if (above == pieces_.begin()) {
    return std::nullopt;
  }
  const Allocation& piece = std::prev(above)->second;
  if (address >= piece.end) {
    return std::nullopt;
  }
  return piece;
}

bool AddressMap::set_reader(std::uint64_t begin, int device, bool allowed) {
  const std::unique_lock lock(mutex_);
  const auto found = pieces_.find(begin);
  if (found == pieces_.end()) {
    return false;
  }
  const std::uint64_t bit = std::uint64_t{1} << device;
  std::uint64_t& readers = found->second.readers;
  readers = allowed ? readers | bit : readers & ~bit;
  if (device == found->second.device && !allowed) {
    found->second.guarded = true;
  }
  changed();
  return true;
}

void AddressMap::set_peer(int from, int to, bool enabled) {
  peers_[static_cast<std::size_t>(from * devices_ + to)] = enabled;
  changed();
}

void AddressMap::forget_peers(int from) {
  for (int to = 0; to < devices_; ++to) {
    set_peer(from, to, false);
  }
}

bool AddressMap::peer(int from, int to) const {
  return peers_[static_cast<std::size_t>(from * devices_ + to)];
}

engine::AddressSpace& AddressMap::view(int device) {
  return *views_[static_cast<std::size_t>(device)];
}

} // namespace cudasim::backend
