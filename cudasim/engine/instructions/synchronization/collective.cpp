// Instructions that lanes of a warp execute together. The scheduler has
// gathered them: `active` are the lanes that are there. Source: PTX ISA 9.7.9.6
// (shfl), 9.7.13 (vote, match, redux, activemask, elect).
#include "cudasim/engine/instructions/lanes.h"
#include "cudasim/engine/instructions/synchronization/reductions.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

enum Shuffle { kUp, kDown, kButterfly, kIndex };

template <Shuffle kShuffle>
Flow shuffle(Warp& warp, const Inst& inst, Mask active) {
  const U32* a = lanes<U32>(warp, inst.operands[2]);
  const U32* b = lanes<U32>(warp, inst.operands[3]);
  const U32* c = lanes<U32>(warp, inst.operands[4]);
  U32 result[kLanes];
  Mask inside = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int amount = static_cast<int>(b[lane] & 31);
    const int clamp = static_cast<int>(c[lane] & 31);
    const int segment = static_cast<int>(c[lane] >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment);
    const int first = lane & segment;
    int from = lane;
    bool valid = false;
    switch (kShuffle) {
      case kUp:
        from = lane - amount;
        valid = from >= last;
        break;
      case kDown:
        from = lane + amount;
        valid = from <= last;
        break;
      case kButterfly:
        from = lane ^ amount;
        valid = from <= last;
        break;
      case kIndex:
        from = first | (amount & ~segment);
        valid = from <= last;
        break;
    }
    from = valid ? from : lane;
    // What a lane that is not there has, PTX leaves open; a GPU gives zero.
    result[lane] = (active >> from & 1) != 0 ? a[from] : 0;
    inside |= (valid ? 1u : 0u) << lane;
  }
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int i) {
    return result[i];
  });
  write_predicate(warp, inst.operands[1], active, inside);
  return Flow::kNext;
}

enum Vote { kAll, kAny, kUniform };

template <Vote kVote>
Flow vote(Warp& warp, const Inst& inst, Mask active) {
  const Mask set = read_predicate(warp, inst, 1) & active;
  const bool result = kVote == kAll ? set == active
      : kVote == kAny               ? set != 0
                                    : set == active || set == 0;
  write_predicate(warp, inst.operands[0], active, result ? kAllLanes : 0);
  return Flow::kNext;
}

Flow ballot(Warp& warp, const Inst& inst, Mask active) {
  const Mask set = read_predicate(warp, inst, 1) & active;
  for_lanes(
      lanes<U32>(warp, inst.operands[0]), active, [&](int) { return set; });
  return Flow::kNext;
}

Flow active_mask(Warp& warp, const Inst& inst, Mask active) {
  for_lanes(
      lanes<U32>(warp, inst.operands[0]), active, [&](int) { return active; });
  return Flow::kNext;
}

template <typename T>
Mask lanes_like(const T* a, Mask active, int lane) {
  return lane_mask([&](int i) { return a[i] == a[lane]; }) & active;
}

template <typename T>
Flow match_any(Warp& warp, const Inst& inst, Mask active) {
  const T* a = lanes<T>(warp, inst.operands[1]);
  U32 result[kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((active >> lane & 1) != 0) {
      result[lane] = lanes_like(a, active, lane);
    }
  }
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int i) {
    return result[i];
  });
  return Flow::kNext;
}

template <typename T>
Flow match_all(Warp& warp, const Inst& inst, Mask active) {
  const T* a = lanes<T>(warp, inst.operands[2]);
  const bool same = lanes_like(a, active, __builtin_ctz(active)) == active;
  const U32 result = same ? active : 0;
  for_lanes(
      lanes<U32>(warp, inst.operands[0]), active, [&](int) { return result; });
  write_predicate(warp, inst.operands[1], active, same ? kAllLanes : 0);
  return Flow::kNext;
}

template <typename Op, typename T>
Flow reduce(Warp& warp, const Inst& inst, Mask active) {
  const T* a = lanes<T>(warp, inst.operands[1]);
  T result = a[__builtin_ctz(active)];
  for (Mask rest = active & (active - 1); rest != 0; rest &= rest - 1) {
    result = Op::run(result, a[__builtin_ctz(rest)]);
  }
  for_lanes(
      lanes<T>(warp, inst.operands[0]), active, [&](int) { return result; });
  return Flow::kNext;
}

/// Of numbers; NaN loses, and -0 is less than +0.
/// @tparam kMagnitudes .abs. @tparam kNan .NaN: one NaN is enough.
template <bool kMaximum, bool kMagnitudes, bool kNan>
Flow reduce_floats(Warp& warp, const Inst& inst, Mask active) {
  const U32* a = lanes<U32>(warp, inst.operands[1]);
  constexpr U32 kInfinity = 0x7f800000u;
  // As whole numbers that rise as the floats do.
  I32 best = 0;
  bool found = false;
  bool nan = false;
  for (Mask left = active; left != 0; left &= left - 1) {
    U32 bits = a[__builtin_ctz(left)];
    bits = kMagnitudes ? bits & 0x7fffffffu : bits;
    if ((bits & 0x7fffffffu) > kInfinity) {
      nan = true;
      continue;
    }
    const I32 key =
        static_cast<I32>((bits & 0x80000000u) != 0 ? bits ^ 0x7fffffffu : bits);
    if (!found || (kMaximum ? key > best : key < best)) {
      best = key;
    }
    found = true;
  }
  const U32 bits =
      best < 0 ? static_cast<U32>(best) ^ 0x7fffffffu : static_cast<U32>(best);
  const U32 result = !found || (kNan && nan) ? 0x7fffffffu : bits;
  for_lanes(
      lanes<U32>(warp, inst.operands[0]), active, [&](int) { return result; });
  return Flow::kNext;
}

/// One lane is chosen: the first.
Flow elect(Warp& warp, const Inst& inst, Mask active) {
  const auto leader = static_cast<U32>(__builtin_ctz(active));
  for_lanes(
      lanes<U32>(warp, inst.operands[0]), active, [&](int) { return leader; });
  write_predicate(warp, inst.operands[1], active, 1u << leader);
  return Flow::kNext;
}

#define CUDASIM_REDUX(op, Op)                                            \
  {"redux.sync." #op ".s32", "=t t members", "9.7.12", reduce<Op, I32>}, \
      {"redux.sync." #op ".u32", "=t t members", "9.7.12", reduce<Op, U32>},
#define CUDASIM_REDUX_BITS(op, Op) \
  {"redux.sync." #op ".b32", "=t t members", "9.7.12", reduce<Op, U32>},

#define CUDASIM_REDUX_FLOATS(op, kMaximum)    \
  {"redux.sync." #op ".f32",                  \
   "=t t members",                            \
   "9.7.12",                                  \
   reduce_floats<kMaximum, false, false>},    \
      {"redux.sync." #op ".abs.f32",          \
       "=t t members",                        \
       "9.7.12",                              \
       reduce_floats<kMaximum, true, false>}, \
      {"redux.sync." #op ".NaN.f32",          \
       "=t t members",                        \
       "9.7.12",                              \
       reduce_floats<kMaximum, false, true>}, \
      {"redux.sync." #op ".abs.NaN.f32",      \
       "=t t members",                        \
       "9.7.12",                              \
       reduce_floats<kMaximum, true, true>},

constexpr Entry kEntries[] = {
    CUDASIM_REDUX_FLOATS(min, false) CUDASIM_REDUX_FLOATS(max, true){
        "shfl.sync.up.b32",
        "=t|pred t b32 b32 members",
        "9.7.8",
        shuffle<kUp>},
    {"shfl.sync.down.b32",
     "=t|pred t b32 b32 members",
     "9.7.8",
     shuffle<kDown>},
    {"shfl.sync.bfly.b32",
     "=t|pred t b32 b32 members",
     "9.7.8",
     shuffle<kButterfly>},
    {"shfl.sync.idx.b32",
     "=t|pred t b32 b32 members",
     "9.7.8",
     shuffle<kIndex>},
    {"vote.sync.all.pred", "=pred pred members", "9.7.12", vote<kAll>},
    {"vote.sync.any.pred", "=pred pred members", "9.7.12", vote<kAny>},
    {"vote.sync.uni.pred", "=pred pred members", "9.7.12", vote<kUniform>},
    {"vote.sync.ballot.b32", "=t pred members", "9.7.12", ballot},
    {"activemask.b32", "=t", "9.7.12", active_mask},
    {"match.any.sync.b32", "=b32 t members", "9.7.12", match_any<U32>},
    {"match.any.sync.b64", "=b32 t members", "9.7.12", match_any<U64>},
    {"match.all.sync.b32", "=b32_|pred t members", "9.7.12", match_all<U32>},
    {"match.all.sync.b64", "=b32_|pred t members", "9.7.12", match_all<U64>},
    {"elect.sync", "=b32_|pred! members", "9.7.12", elect},
    CUDASIM_REDUX(add, Add) CUDASIM_REDUX(min, Minimum)
        CUDASIM_REDUX(max, Maximum) CUDASIM_REDUX_BITS(and, And)
            CUDASIM_REDUX_BITS(or, Or) CUDASIM_REDUX_BITS(xor, Xor)};

} // namespace

Family collective_family() {
  return {
      "collective",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "activemask elect match"};
}

} // namespace cudasim::engine::CUDASIM_ISA
