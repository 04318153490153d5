#include "runtime/core/memory/address_map.h"

#include <iterator>
#include <mutex>
#include <utility>

#include "runtime/core/backends/api_status.h"

namespace accelerator::runtime {
namespace {

// Whether a piece is memory of its device that was allocated with its address.
bool is_of_device(Space space) {
  return space == Space::kDevice || space == Space::kArray ||
      space == Space::kVariable;
}

} // namespace

AddressMap::AddressMap(std::vector<Slot> devices)
    : devices_(std::move(devices)),
      counts_(devices_.size()),
      peers_(devices_.size() * devices_.size()) {}

void AddressMap::change_count(int device, std::uint64_t difference) {
  Count& count = counts_[static_cast<std::size_t>(device)];
  count.bytes += difference;
  if (count.place != nullptr) {
    count.place->store(count.bytes, std::memory_order_relaxed);
  }
}

void AddressMap::count_in(int device, std::uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  change_count(device, bytes);
}

void AddressMap::count_out(int device, std::uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  change_count(device, -bytes);
}

void AddressMap::show_allocated(int device, std::atomic<std::uint64_t>& place) {
  const std::unique_lock lock(mutex_);
  counts_[static_cast<std::size_t>(device)].place = &place;
  change_count(device, 0);
}

bool AddressMap::visible(const Allocation& piece, int device) const {
  if (piece.on_host() || (piece.readers >> device & 1) != 0) {
    return true;
  }
  if (piece.space == Space::kMapped) {
    return false; // only whom cuMemSetAccess lets
  }
  return piece.device == device || peer(device, piece.device);
}

std::uint64_t AddressMap::insert(Allocation allocation) {
  const std::unique_lock lock(mutex_);
  const auto above = pieces_.lower_bound(allocation.begin);
  const bool hits_above =
      above != pieces_.end() && above->second.begin < allocation.end;
  const bool hits_below = above != pieces_.begin() &&
      std::prev(above)->second.end > allocation.begin;
  require(!hits_above && !hits_below);
  allocation.id = next_id_++;
  const std::uint64_t id = allocation.id;
  if (is_of_device(allocation.space)) {
    change_count(allocation.device, allocation.size());
  }
  pieces_.emplace(allocation.begin, std::move(allocation));
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
  if (is_of_device(piece.space)) {
    change_count(piece.device, -piece.size());
  }
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

bool AddressMap::overlaps(std::uint64_t begin, std::uint64_t end) const {
  const std::shared_lock lock(mutex_);
  const auto above = pieces_.lower_bound(begin);
  return (above != pieces_.end() && above->second.begin < end) ||
      (above != pieces_.begin() && std::prev(above)->second.end > begin);
}

std::vector<std::uint64_t> AddressMap::list(int device, Space space) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::uint64_t> begins;
  for (const auto& [begin, piece] : pieces_) {
    if (piece.device == device && piece.space == space) {
      begins.push_back(begin);
    }
  }
  return begins;
}

bool AddressMap::set_readers(std::uint64_t begin, std::uint64_t readers) {
  const std::unique_lock lock(mutex_);
  const auto found = pieces_.find(begin);
  if (found == pieces_.end()) {
    return false;
  }
  found->second.readers = readers;
  return true;
}

bool AddressMap::set_synchronous(std::uint64_t begin, bool synchronous) {
  const std::unique_lock lock(mutex_);
  const auto found = pieces_.find(begin);
  if (found == pieces_.end()) {
    return false;
  }
  found->second.synchronous = synchronous;
  return true;
}

bool AddressMap::can_be_peers(int from, int to) const {
  const Slot& user = slot(from);
  const Slot& owner = slot(to);
  std::int32_t possible = 0;
  return from != to && user.api == owner.api &&
      user.api->peer_possible != nullptr &&
      user.api->peer_possible(user.index, owner.index, &possible) == ACCEL_OK &&
      possible != 0;
}

void AddressMap::set_peer(int from, int to, bool enabled) {
  const Slot& user = slot(from);
  const Slot& owner = slot(to);
  if (user.api == owner.api && user.api->peer_enable != nullptr) {
    check(
        *user.api,
        user.api->peer_enable(user.index, owner.index, enabled ? 1 : 0));
  }
  peers_
      [static_cast<std::size_t>(from) * devices_.size() +
       static_cast<std::size_t>(to)] = enabled;
}

void AddressMap::forget_peers(int from) {
  for (int to = 0; to < static_cast<int>(devices_.size()); ++to) {
    if (peer(from, to)) {
      set_peer(from, to, false);
    }
  }
}

bool AddressMap::peer(int from, int to) const {
  return peers_
      [static_cast<std::size_t>(from) * devices_.size() +
       static_cast<std::size_t>(to)];
}

} // namespace accelerator::runtime
