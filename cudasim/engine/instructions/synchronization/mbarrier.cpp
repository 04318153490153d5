// Barriers in shared memory: mbarrier, and cp.async.mbarrier.arrive. Source:
// PTX ISA 9.7.12.15.
#include "cudasim/engine/instructions/synchronization/mbarrier_object.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

template <Space kSpace>
bool locate_object(
    Warp& warp,
    const Inst& inst,
    int operand,
    Mask active,
    U64* host) {
  return locate<kSpace>(
      warp,
      inst,
      inst.operands[operand],
      inst.widths[operand],
      static_cast<U64>(inst.offset),
      active,
      8,
      8,
      true,
      host);
}

/// An operand of a lane.
template <typename T>
U64 number(Warp& warp, const Inst& inst, int operand, int lane) {
  return lanes<T>(warp, inst.operands[operand])[lane];
}

template <Space kSpace>
Flow initialize(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate_object<kSpace>(warp, inst, 0, active, host)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const U64 count = number<U32>(warp, inst, 1, lane);
    Object{count, count, 0, 0}.write(host[lane]);
  }
  return Flow::kNext;
}

template <Space kSpace>
Flow invalidate(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  return locate_object<kSpace>(warp, inst, 0, active, host) ? Flow::kNext
                                                            : Flow::kFault;
}

/// Arrivals: of lane after lane, each with its own state.
template <Space kSpace, bool kDrops>
Flow arrive(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate_object<kSpace>(warp, inst, 1, active, host)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    Object object = Object::read(host[lane]);
    lanes<U64>(warp, inst.operands[0])[lane] = object.bits();
    const U64 count =
        inst.operands[2] == kNoSlot ? 1 : number<U32>(warp, inst, 2, lane);
    object.arrive(count, kDrops);
    object.write(host[lane]);
  }
  return Flow::kNext;
}

/// Bytes that the phase waits for, or that have come.
template <Space kSpace, bool kExpects>
Flow count_bytes(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate_object<kSpace>(warp, inst, 0, active, host)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const U64 bytes = number<U32>(warp, inst, 1, lane);
    Object object = Object::read(host[lane]);
    object.expect(kExpects ? bytes : 0 - bytes);
    object.write(host[lane]);
  }
  return Flow::kNext;
}

/// Arrivals that first say for how many bytes the phase waits.
template <Space kSpace, bool kDrops>
Flow arrive_and_expect(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate_object<kSpace>(warp, inst, 1, active, host)) {
    return Flow::kFault;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const U64 bytes = number<U32>(warp, inst, 2, lane);
    Object object = Object::read(host[lane]);
    lanes<U64>(warp, inst.operands[0])[lane] = object.bits();
    object.pending_bytes += bytes;
    object.arrive(1, kDrops);
    object.write(host[lane]);
  }
  return Flow::kNext;
}

/// cp.async.mbarrier.arrive: the copies are done already. Without .noinc the
/// arrival makes up for one that it adds, so nothing is left to do.
template <Space kSpace, bool kCounts>
Flow arrive_after_copies(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate_object<kSpace>(warp, inst, 0, active, host)) {
    return Flow::kFault;
  }
  for (Mask left = kCounts ? active : 0; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    Object object = Object::read(host[lane]);
    object.arrive(1, false);
    object.write(host[lane]);
  }
  return Flow::kNext;
}

/// Whether the phase of a state, or the last one of a parity, is over. Who
/// waits for it lets others get on.
template <Space kSpace, bool kParity>
Flow test_wait(Warp& warp, const Inst& inst, Mask active) {
  U64 host[kLanes];
  if (!locate_object<kSpace>(warp, inst, 1, active, host)) {
    return Flow::kFault;
  }
  Mask done = 0;
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const U64 phase = Object::read(host[lane]).phase;
    const U64 waited = kParity ? number<U32>(warp, inst, 2, lane)
                               : number<U64>(warp, inst, 2, lane);
    const bool over =
        kParity ? (phase & 1) != (waited & 1) : phase != waited >> kPhaseShift;
    done |= (over ? 1u : 0u) << lane;
  }
  write_predicate(warp, inst.operands[0], active, done);
  return done == active ? Flow::kNext : Flow::kYield;
}

Flow pending_count(Warp& warp, const Inst& inst, Mask active) {
  const U64* state = lanes<U64>(warp, inst.operands[1]);
  for_lanes(lanes<U32>(warp, inst.operands[0]), active, [&](int i) {
    return static_cast<U32>(state[i] >> kPendingShift & kCountMask);
  });
  return Flow::kNext;
}

#define CUDASIM_MBARRIER(name, space, kSpace)         \
  {"mbarrier.init" name ".b64",                       \
   "[" space ":8] u32",                               \
   "9.7.12",                                          \
   initialize<kSpace>},                               \
      {"mbarrier.inval" name ".b64",                  \
       "[" space ":8]",                               \
       "9.7.12",                                      \
       invalidate<kSpace>},                           \
      {"mbarrier.arrive" name ".b64",                 \
       "=b64_ [" space ":8] u32?",                    \
       "9.7.12",                                      \
       arrive<kSpace, false>},                        \
      {"mbarrier.arrive.noComplete" name ".b64",      \
       "=b64_ [" space ":8] u32",                     \
       "9.7.12",                                      \
       arrive<kSpace, false>},                        \
      {"mbarrier.arrive_drop" name ".b64",            \
       "=b64_ [" space ":8] u32?",                    \
       "9.7.12",                                      \
       arrive<kSpace, true>},                         \
      {"mbarrier.arrive_drop.noComplete" name ".b64", \
       "=b64_ [" space ":8] u32",                     \
       "9.7.12",                                      \
       arrive<kSpace, true>},                         \
      {"mbarrier.arrive.expect_tx" name ".b64",       \
       "=b64_ [" space ":8] u32",                     \
       "9.7.12",                                      \
       arrive_and_expect<kSpace, false>},             \
      {"mbarrier.arrive_drop.expect_tx" name ".b64",  \
       "=b64_ [" space ":8] u32",                     \
       "9.7.12",                                      \
       arrive_and_expect<kSpace, true>},              \
      {"mbarrier.expect_tx" name ".b64",              \
       "[" space ":8] u32",                           \
       "9.7.12",                                      \
       count_bytes<kSpace, true>},                    \
      {"mbarrier.complete_tx" name ".b64",            \
       "[" space ":8] u32",                           \
       "9.7.12",                                      \
       count_bytes<kSpace, false>},                   \
      {"mbarrier.test_wait" name ".b64",              \
       "orders: =pred [" space ":8] b64",             \
       "9.7.12",                                      \
       test_wait<kSpace, false>},                     \
      {"mbarrier.test_wait.parity" name ".b64",       \
       "orders: =pred [" space ":8] u32:0..1",        \
       "9.7.12",                                      \
       test_wait<kSpace, true>},                      \
      {"mbarrier.try_wait" name ".b64",               \
       "orders: =pred [" space ":8] b64 u32?",        \
       "9.7.12",                                      \
       test_wait<kSpace, false>},                     \
      {"mbarrier.try_wait.parity" name ".b64",        \
       "orders: =pred [" space ":8] u32:0..1 u32?",   \
       "9.7.12",                                      \
       test_wait<kSpace, true>},                      \
      {"cp.async.mbarrier.arrive" name ".b64",        \
       "[" space ":8]",                               \
       "9.7.12",                                      \
       arrive_after_copies<kSpace, false>},           \
      {"cp.async.mbarrier.arrive.noinc" name ".b64",  \
       "[" space ":8]",                               \
       "9.7.12",                                      \
       arrive_after_copies<kSpace, true>},

constexpr Entry kEntries[] = {
    CUDASIM_MBARRIER("", "generic", kGeneric)
        CUDASIM_MBARRIER(".shared", "shared", kShared){
            "mbarrier.pending_count.b64",
            "=u32 b64",
            "9.7.12",
            pending_count}};

} // namespace

Family mbarrier_family() {
  return {"mbarrier", kEntries, sizeof(kEntries) / sizeof(kEntries[0])};
}

} // namespace cudasim::engine::CUDASIM_ISA
