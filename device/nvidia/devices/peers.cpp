#include "device/nvidia/devices/peers.h"

#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "device/nvidia/devices/device.h"
#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

// Why a device may use memory of another.
struct Pair {
  bool wanted = false;
  std::set<void*> shared;
  bool enabled = false;
};

struct Pairs {
  std::mutex mutex;
  std::map<std::pair<int, int>, Pair> all; // user, owner
};

Pairs& pairs() {
  static auto* all = new Pairs;
  return *all;
}

// With the mutex.
void apply(Device& from, Device& to, Pair& pair) {
  const bool needed = pair.wanted || !pair.shared.empty();
  if (needed == pair.enabled) {
    return;
  }
  const Current current(from);
  CUresult result = CUDA_SUCCESS;
  if (needed) {
    result = driver().cuCtxEnablePeerAccess(to.context(), 0);
    // The program may have called the driver itself.
    if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
      check(result, "cuCtxEnablePeerAccess");
    }
  } else {
    result = driver().cuCtxDisablePeerAccess(to.context());
    if (result != CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) {
      check(result, "cuCtxDisablePeerAccess");
    }
  }
  pair.enabled = needed;
}

void require_possible(Device& from, Device& to) {
  require(
      can_use_peer(from, to),
      ACCEL_NOT_SUPPORTED,
      "it cannot use memory of device " + std::to_string(to.number()));
}

} // namespace

bool can_use_peer(Device& from, Device& to) {
  if (&from == &to) {
    return false;
  }
  int possible = 0;
  ACCEL_DRIVER(cuDeviceCanAccessPeer, &possible, from.handle(), to.handle());
  return possible != 0;
}

void enable_peer(Device& from, Device& to, bool enabled) {
  require_possible(from, to);
  Pairs& known = pairs();
  const std::lock_guard lock(known.mutex);
  Pair& pair = known.all[{from.number(), to.number()}];
  const bool before = std::exchange(pair.wanted, enabled);
  try {
    apply(from, to, pair);
  } catch (...) {
    pair.wanted = before;
    throw;
  }
}

void share_memory(void* address, Device& owner, Device& user, bool enabled) {
  if (&owner == &user) {
    return;
  }
  require_possible(user, owner);
  Pairs& known = pairs();
  const std::lock_guard lock(known.mutex);
  Pair& pair = known.all[{user.number(), owner.number()}];
  const auto before = pair.shared;
  if (enabled) {
    pair.shared.insert(address);
  } else {
    pair.shared.erase(address);
  }
  try {
    apply(user, owner, pair);
  } catch (...) {
    pair.shared = before;
    throw;
  }
}

// Access stays where it was the last reason: who asks again gets it at once.
void forget_sharing(void* address) {
  Pairs& known = pairs();
  const std::lock_guard lock(known.mutex);
  for (auto& [devices, pair] : known.all) {
    pair.shared.erase(address);
  }
}

} // namespace accelerator::nvidia
