#include "cudasim/engine/counts/block_counter.h"

namespace cudasim::engine {
namespace {

constexpr int kRow = kLanes / 2;

/// How far apart the addresses of neighbouring lanes are, if that is the same
/// from the first of some lanes to the last. @returns whether it is; one lane
/// alone fits any distance.
bool has_stride(
    const std::uint64_t* addresses,
    Mask lanes,
    std::int64_t* stride) {
  if (lanes == 0 || (lanes & (lanes - 1)) == 0) {
    return true;
  }
  const int first = __builtin_ctz(lanes);
  const int second = __builtin_ctz(lanes & (lanes - 1));
  const auto distance =
      static_cast<std::int64_t>(addresses[second] - addresses[first]);
  if (distance % (second - first) != 0) {
    return false;
  }
  *stride = distance / (second - first);
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (addresses[lane] - addresses[first] !=
        static_cast<std::uint64_t>(*stride * (lane - first))) {
      return false;
    }
  }
  return true;
}

/// Of the first access that an instruction makes.
AddressPattern pattern_of(
    Warp& warp,
    const Inst& inst,
    const MemoryAccess& access,
    Mask active) {
  const Mask mask = active & access.lanes;
  if (access.lines != 0) {
    return AddressPattern::kAlike; // the warp as a whole has one
  }
  std::uint64_t addresses[kLanes] = {};
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    addresses[lane] = address_of(warp, inst, access, lane);
  }
  constexpr Mask kFirstRow = (Mask{1} << kRow) - 1;
  std::int64_t stride = 0;
  if (!has_stride(addresses, mask, &stride)) {
    std::int64_t first = 0;
    std::int64_t second = 0;
    const bool fit = has_stride(addresses, mask & kFirstRow, &first) &&
        has_stride(addresses, mask & ~kFirstRow, &second);
    if (!fit || first != second) {
      return AddressPattern::kScattered;
    }
    stride = first;
  }
  return stride == 0          ? AddressPattern::kAlike
      : stride == access.size ? AddressPattern::kConsecutive
                              : AddressPattern::kStrided;
}

} // namespace

BlockCounter::~BlockCounter() {
  for (const auto& [code, counts] : of_) {
    counts_.add(*code, counts);
  }
}

void BlockCounter::before(const Accessor& accessor, Mask active) {
  const Code& code = *accessor.code;
  if (last_ != &code) {
    last_ = &code;
    of_last_ = &of_[&code];
    of_last_->resize(code.instructions.size());
  }
  const std::uint32_t index = accessor.inst->index;
  const auto found = code.accesses.find(index);
  const AddressPattern pattern =
      found == code.accesses.end() || found->second.list.empty()
      ? AddressPattern::kNone
      : pattern_of(
            *accessor.warp, *accessor.inst, found->second.list.front(), active);
  InstructionCount::Executed& executed =
      (*of_last_)[index].of[static_cast<std::size_t>(pattern)];
  (active == kAllLanes ? executed.by_full_warps : executed.by_others) += 1;
  executed.by_threads += static_cast<std::uint64_t>(lane_count(active));
}

} // namespace cudasim::engine
