#include "cudasim/engine/check/block_checker.h"

#include <cstdio>
#include <cstring>

#include "cudasim/engine/code/readable_name.h"
#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/memory/poison.h"

namespace cudasim::engine {
namespace {

/// The most bytes that one lane moves at once: ld.v8.b32 and the like.
constexpr std::uint32_t kWidest = 32;

/// The bytes that a lane is about to store.
void stored_value(
    Warp& warp,
    const Inst& inst,
    const MemoryAccess& access,
    int lane,
    std::byte* value) {
  const std::uint32_t element = access.size / access.elements;
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    const std::size_t operand = access.first_element + k;
    const std::uint8_t width = inst.widths[operand];
    const std::byte* registers = lanes<std::byte>(warp, inst.operands[operand]);
    std::memcpy(value + k * element, registers + lane * width, element);
  }
}

/// Whether it sets or clears bits, whatever the others are: a tile of more than
/// a warp (cooperative_groups/details/sync.h in CUDA) does so with memory that
/// nobody initializes.
bool changes_bits(const Code& code, const Inst& inst) {
  const std::string& text = code.texts[inst.index];
  return text.rfind("red.", 0) == 0 &&
      (text.find(".and.") != std::string::npos ||
       text.find(".or.") != std::string::npos);
}

} // namespace

BlockChecker::BlockChecker(
    const Block& block,
    LaunchFindings& findings,
    const std::string& kernel,
    std::uint32_t block_x,
    std::uint32_t block_y,
    std::size_t warps)
    : block_(block),
      findings_(findings),
      kernel_(readable_name(kernel)),
      block_x_(block_x),
      block_y_(block_y),
      orders_(warps),
      exchanges_(warps),
      cells_(block.shared_bytes) {}

void BlockChecker::start() {
  ++epoch_;
  poison(block_.shared, block_.shared_bytes);
}

void BlockChecker::warp_meets(
    const Accessor& accessor,
    Mask lanes,
    Mask members) {
  const Warp& warp = *accessor.warp;
  if (accessor.code->control_at(accessor.inst->index).kind ==
      ControlKind::kWarpBarrier) {
    orders_[warp.index].synchronized(members, warp.live);
  } else {
    exchanges_[warp.index].add(
        {accessor.code, accessor.inst}, epoch_, lanes, members);
  }
}

bool BlockChecker::in_shared(std::uint64_t address, std::uint32_t size) const {
  const auto begin = reinterpret_cast<std::uint64_t>(block_.shared);
  return address - begin < block_.shared_bytes &&
      address - begin + size <= block_.shared_bytes;
}

bool BlockChecker::in_global(
    Warp& warp,
    std::uint64_t address,
    std::uint32_t size) const {
  return find_range(warp, address, address + size, false);
}

/// @param live lanes of the warp of `now`.
bool BlockChecker::ordered(const Event& earlier, const Event& now, Mask live)
    const {
  if (earlier.epoch != now.epoch || (earlier.atomic && now.atomic)) {
    return true;
  }
  if (earlier.warp != now.warp) {
    return false;
  }
  // The same instruction spreads a matrix over the lanes in the same way.
  return (earlier.site.inst == now.site.inst && earlier.begin == now.begin &&
          now.party == WarpOrder::kWholeWarp) ||
      orders_[now.warp].is_before(earlier.party, earlier.time, now.party, live);
}

/// Whether a lane of the same warp has read what it then contributed to a
/// collective, before `now`.
bool BlockChecker::read_is_over(
    const Event& read,
    const Event& now,
    Mask live) {
  const auto lanes_of = [live](const Event& event) {
    return event.party == WarpOrder::kWholeWarp ? live : 1u << event.party;
  };
  return read.warp == now.warp &&
      exchanges_[now.warp].read_is_over(
          read.site, read.exchanges, lanes_of(read), lanes_of(now), flow_);
}

void BlockChecker::before(const Accessor& accessor, Mask active) {
  const auto found = accessor.code->accesses.find(accessor.inst->index);
  if (found == accessor.code->accesses.end()) {
    return;
  }
  if (found->second.orders) {
    // Which threads it orders is not known here; all of them hides races
    // rather than reporting what is none.
    ++epoch_;
  }
  for (const MemoryAccess& access : found->second.list) {
    check(accessor, access, active);
  }
}

void BlockChecker::check(
    const Accessor& accessor,
    const MemoryAccess& access,
    Mask active) {
  Warp& warp = *accessor.warp;
  const Inst& inst = *accessor.inst;
  if (access.lines != 0) {
    const int lane = __builtin_ctz(active);
    std::uint64_t address = address_of(warp, inst, access, lane);
    const std::uint64_t distance = access.distance_operand == 0
        ? access.size
        : std::uint64_t{lanes<std::uint32_t>(
              warp, operand_of(inst, access.distance_operand))[lane]} *
            access.unit / access.parts;
    const std::uint64_t begin = address;
    for (std::uint32_t line = 0; line < access.lines; ++line) {
      if (!check_one(accessor, access, lane, address, begin, nullptr)) {
        return;
      }
      address += distance;
    }
    return;
  }
  for (Mask left = active & access.lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    std::byte value[kWidest];
    const bool known = access.elements != 0 && access.size <= kWidest;
    if (known) {
      stored_value(warp, inst, access, lane, value);
    }
    if (!check_one(
            accessor,
            access,
            lane,
            address_of(warp, inst, access, lane),
            0,
            known ? value : nullptr)) {
      return;
    }
  }
}

bool BlockChecker::check_one(
    const Accessor& accessor,
    const MemoryAccess& access,
    int lane,
    std::uint64_t address,
    std::uint64_t begin,
    const std::byte* value) {
  Warp& warp = *accessor.warp;
  const bool writes = access.kind != MemoryAccess::Kind::kRead;
  const bool reads = access.kind != MemoryAccess::Kind::kWrite;
  if (access.space == MemoryAccess::Space::kShared) {
    if (address > block_.shared_bytes ||
        block_.shared_bytes - address < access.size) {
      return false;
    }
    address += reinterpret_cast<std::uint64_t>(block_.shared);
  }
  Event now;
  now.warp = warp.index;
  now.party = access.warp_wide ? WarpOrder::kWholeWarp
                               : static_cast<WarpOrder::Party>(lane);
  now.epoch = epoch_;
  now.time = orders_[warp.index].time_of(now.party);
  now.exchanges = exchanges_[warp.index].count();
  now.lanes = access.warp_wide ? 0 : 1u << lane;
  now.begin = begin;
  now.atomic = access.atomic;
  now.site = {accessor.code, accessor.inst};
  if (in_shared(address, access.size)) {
    if (reads && is_poisoned(address, access.size)) {
      if (changes_bits(*accessor.code, *accessor.inst)) {
        // Any value will do, and this one does not look unwritten afterwards.
        std::memset(reinterpret_cast<void*>(address), 0, access.size);
      } else {
        uninitialized(
            FindingKind::kUninitializedShared, now, address, access.size);
      }
    }
    check_race(
        now,
        warp.live,
        reads,
        writes,
        value,
        address - reinterpret_cast<std::uint64_t>(block_.shared),
        access.size);
  } else if (
      reads && in_global(warp, address, access.size) &&
      is_poisoned(address, access.size)) {
    uninitialized(FindingKind::kUninitializedGlobal, now, address, access.size);
  }
  return true;
}

void BlockChecker::check_race(
    const Event& now,
    Mask live,
    bool reads,
    bool writes,
    const std::byte* value,
    std::uint64_t offset,
    std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; ++i) {
    Cell& cell = cells_[offset + i];
    if (reads && !ordered(cell.write, now, live)) {
      race(FindingKind::kReadAfterWrite, cell.write, now, offset + i);
    }
    // Threads that write the same do each other no harm, nor does one that
    // writes what is there already.
    const int written = value == nullptr ? -1 : static_cast<int>(value[i]);
    if (writes && !ordered(cell.write, now, live) &&
        (written < 0 || cell.written != written)) {
      race(FindingKind::kWriteAfterWrite, cell.write, now, offset + i);
    }
    if (writes && static_cast<int>(block_.shared[offset + i]) != written) {
      check_reads(cell, now, live, offset + i);
    }
    if (reads) {
      note_read(cell, now);
    }
    if (writes) {
      cell.write = now;
      cell.written = written;
    }
  }
}

void BlockChecker::note_read(Cell& cell, const Event& now) {
  auto& [last, second, third] = cell.reads;
  for (Event& read : cell.reads) {
    if (read.epoch == now.epoch && read.warp == now.warp &&
        read.site.inst == now.site.inst && read.time == now.time &&
        read.exchanges == now.exchanges && read.atomic == now.atomic &&
        (read.lanes == 0) == (now.lanes == 0)) {
      read.lanes |= now.lanes;
      return;
    }
  }
  // That of another warp is a race with any write until a barrier.
  const bool keep_third = third.epoch == now.epoch && third.warp != now.warp &&
      last.warp == now.warp && second.warp == now.warp;
  if (!keep_third) {
    third = second;
  }
  second = last;
  last = now;
}

void BlockChecker::check_reads(
    const Cell& cell,
    const Event& now,
    Mask live,
    std::uint64_t offset) {
  for (Event read : cell.reads) {
    Mask left = read.lanes;
    do {
      if (left != 0) {
        read.party = static_cast<WarpOrder::Party>(__builtin_ctz(left));
      }
      if (!ordered(read, now, live) && !read_is_over(read, now, live)) {
        race(FindingKind::kWriteAfterRead, read, now, offset);
        break;
      }
      left &= left - 1;
    } while (left != 0 && read.epoch == now.epoch);
  }
}

/// The place of an access and who makes it.
std::string BlockChecker::text_of(const Event& event) const {
  const bool whole = event.party == WarpOrder::kWholeWarp;
  const std::uint32_t thread =
      event.warp * kLanes + (whole ? 0 : std::uint32_t{event.party});
  return engine::text_of(event.site) +
      (whole ? " by the warp of thread (" : " by thread (") +
      std::to_string(thread % block_x_) + "," +
      std::to_string(thread / block_x_ % block_y_) + "," +
      std::to_string(thread / block_x_ / block_y_) + ")";
}

std::string BlockChecker::block_text() const {
  return "\n    in block (" + std::to_string(block_.index[0]) + "," +
      std::to_string(block_.index[1]) + "," + std::to_string(block_.index[2]) +
      ") of " + kernel_;
}

void BlockChecker::race(
    FindingKind kind,
    const Event& earlier,
    const Event& now,
    std::uint64_t offset) {
  if (findings_.add(kind, earlier.site, now.site)) {
    findings_.report(
        std::string(name_of(kind)) + " at byte " + std::to_string(offset) +
        "\n    between " + text_of(earlier) + "\n    and " + text_of(now) +
        block_text() + ": nothing orders the two\n");
  }
}

void BlockChecker::uninitialized(
    FindingKind kind,
    const Event& now,
    std::uint64_t address,
    std::uint32_t size) {
  if (!findings_.add(kind, now.site, {})) {
    return;
  }
  char place[64];
  if (kind == FindingKind::kUninitializedShared) {
    std::snprintf(
        place,
        sizeof(place),
        "byte %llu",
        static_cast<unsigned long long>(
            address - reinterpret_cast<std::uint64_t>(block_.shared)));
  } else {
    std::snprintf(
        place,
        sizeof(place),
        "address 0x%llx",
        static_cast<unsigned long long>(address));
  }
  findings_.report(
      "Uninitialized read of " + std::to_string(size) + " bytes of " +
      (kind == FindingKind::kUninitializedShared ? "shared" : "global") +
      " memory at " + place + "\n    at " + text_of(now) + block_text() +
      ": nothing has written it\n");
}

} // namespace cudasim::engine
