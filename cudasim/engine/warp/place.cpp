#include "cudasim/engine/warp/place.h"

#include <algorithm>

namespace cudasim::engine {
namespace {

/// Threads of the lanes: they are numbered along x, then y, then z.
struct Threads {
  std::uint32_t x[kLanes];
  std::uint32_t y[kLanes];
  std::uint32_t z[kLanes];
};

Threads threads_of(const Place& p) {
  Threads threads;
  const std::uint32_t first = p.warp * kLanes;
  std::uint32_t x = first % p.block.x;
  std::uint32_t y = first / p.block.x % p.block.y;
  std::uint32_t z = first / p.block.x / p.block.y;
  for (int lane = 0; lane < kLanes; ++lane) {
    threads.x[lane] = x;
    threads.y[lane] = y;
    threads.z[lane] = z;
    if (++x == p.block.x) {
      x = 0;
      if (++y == p.block.y) {
        y = 0;
        ++z;
      }
    }
  }
  return threads;
}

/// The value of a register that is the same in all lanes of a warp.
std::uint64_t uniform_value(
    Special special,
    const Place& p,
    std::uint64_t local_frame) {
  switch (special) {
    case Special::kNtidX:
      return p.block.x;
    case Special::kNtidY:
      return p.block.y;
    case Special::kNtidZ:
      return p.block.z;
    case Special::kCtaidX:
      return p.block_index.x;
    case Special::kCtaidY:
      return p.block_index.y;
    case Special::kCtaidZ:
      return p.block_index.z;
    case Special::kNctaidX:
      return p.grid.x;
    case Special::kNctaidY:
      return p.grid.y;
    case Special::kNctaidZ:
      return p.grid.z;
    case Special::kWarpId:
      return p.warp;
    case Special::kNwarpId:
      return (p.block.count() + kLanes - 1) / kLanes;
    case Special::kSmId:
      return (p.block_index.x + p.block_index.y * p.grid.x) % p.multiprocessors;
    case Special::kNsmId:
      return p.multiprocessors;
    case Special::kOne:
      return 1;
    case Special::kGridWorkspaceHigh:
      return p.grid_workspace >> 32;
    case Special::kGridWorkspaceLow:
      return static_cast<std::uint32_t>(p.grid_workspace);
    case Special::kDynamicSharedSize:
      return p.dynamic_shared;
    case Special::kTotalSharedSize:
      return p.total_shared;
    case Special::kReservedSharedBegin:
      return p.reserved_shared;
    case Special::kReservedSharedMiddle:
      return p.reserved_shared + kReservedShared / 2;
    case Special::kReservedSharedEnd:
      return p.reserved_shared + kReservedShared;
    case Special::kReservedSharedSize:
      return kReservedShared;
    case Special::kLocalFrame:
      return local_frame;
    default: // kGridId, kZero
      return 0;
  }
}

/// Whether a register's values differ between the blocks of a grid, or between
/// calls of a function. All lanes have the same.
bool differs(Special special) {
  switch (special) {
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ:
    case Special::kSmId:
    case Special::kLocalFrame:
      return true;
    default:
      return false;
  }
}

template <typename T>
void fill_uniform(std::uint64_t value, T* values) {
  std::fill_n(values, kLanes, static_cast<T>(value));
}

/// The 32 values of a register, converted to its width.
template <typename T>
void fill(
    const SpecialRegister& reg,
    const Place& place,
    const Threads& threads,
    std::uint64_t local_frame,
    T* values) {
  const auto each = [&](auto value) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      values[lane] = static_cast<T>(value(lane));
    }
  };
  switch (reg.special) {
    case Special::kTidX:
      return each([&](std::uint32_t lane) { return threads.x[lane]; });
    case Special::kTidY:
      return each([&](std::uint32_t lane) { return threads.y[lane]; });
    case Special::kTidZ:
      return each([&](std::uint32_t lane) { return threads.z[lane]; });
    case Special::kLaneId:
      return each([](std::uint32_t lane) { return lane; });
    case Special::kLanemaskEq:
      return each([](std::uint32_t lane) { return 1u << lane; });
    case Special::kLanemaskLt:
      return each([](std::uint32_t lane) { return (1u << lane) - 1; });
    case Special::kLanemaskLe:
      return each([](std::uint32_t lane) { return (2u << lane) - 1; });
    case Special::kLanemaskGt:
      return each([](std::uint32_t lane) { return ~((2u << lane) - 1); });
    case Special::kLanemaskGe:
      return each([](std::uint32_t lane) { return ~((1u << lane) - 1); });
    default:
      return fill_uniform(
          uniform_value(reg.special, place, local_frame), values);
  }
}

/// Calls `put` with the values of a register, as numbers of its width.
template <typename Put>
void with_values(const SpecialRegister& reg, std::byte* registers, Put put) {
  std::byte* const slot = registers + reg.slot;
  switch (reg.width) {
    case 2:
      put(reinterpret_cast<std::uint16_t*>(slot));
      break;
    case 4:
      put(reinterpret_cast<std::uint32_t*>(slot));
      break;
    default:
      put(reinterpret_cast<std::uint64_t*>(slot));
  }
}

} // namespace

void specials_of_block(
    const Code& code,
    const Place& place,
    std::vector<std::pair<const SpecialRegister*, std::uint64_t>>* values) {
  values->clear();
  for (const SpecialRegister& reg : code.specials) {
    if (differs(reg.special)) {
      values->emplace_back(&reg, uniform_value(reg.special, place, 0));
    }
  }
}

void fill_specials(
    const Code& code,
    const Place& place,
    std::uint64_t local_frame,
    bool again,
    std::byte* registers) {
  if (code.specials.empty()) {
    return;
  }
  if (again) {
    for (const SpecialRegister& reg : code.specials) {
      if (differs(reg.special)) {
        const std::uint64_t value =
            uniform_value(reg.special, place, local_frame);
        with_values(
            reg, registers, [&](auto* values) { fill_uniform(value, values); });
      }
    }
    return;
  }
  const Threads threads = threads_of(place);
  for (const SpecialRegister& reg : code.specials) {
    with_values(reg, registers, [&](auto* values) {
      fill(reg, place, threads, local_frame, values);
    });
  }
}

} // namespace cudasim::engine
