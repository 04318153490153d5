// alloca and what belongs to it: memory of each lane, taken from the end of its
// local memory downwards (Warp::stack_top). Source: PTX ISA 9.7.15.
#include "cudasim/engine/instructions/lanes.h"
#include "cudasim/engine/memory/access.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

/// Memory of a lane that lives until its function returns.
template <typename T>
Flow allocate(Warp& warp, const Inst& inst, Mask active) {
  constexpr U64 kDefaultAlignment = 8;
  T* d = lanes<T>(warp, inst.operands[0]);
  const T* sizes = lanes<T>(warp, inst.operands[1]);
  const U64 alignment = inst.operands[2] == kNoSlot
      ? kDefaultAlignment
      : lanes<U32>(warp, inst.operands[2])[0];
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const U64 top = warp.stack_top[i];
    const U64 begin = (top - sizes[i]) & ~(alignment - 1);
    if (sizes[i] > top || begin < warp.local_end) {
      return access_fault(warp, inst, FaultKind::kStackOverflow, i, 0, 0, true);
    }
    warp.stack_top[i] = begin;
    d[i] = static_cast<T>(begin);
  }
  return Flow::kNext;
}
template <typename T>
Flow save_stack(Warp& warp, const Inst& inst, Mask active) {
  T* d = lanes<T>(warp, inst.operands[0]);
  for_lanes(
      d, active, [&](int i) { return static_cast<T>(warp.stack_top[i]); });
  return Flow::kNext;
}
template <typename T>
Flow restore_stack(Warp& warp, const Inst& inst, Mask active) {
  const T* saved = lanes<T>(warp, inst.operands[0]);
  for (Mask left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (saved[i] < warp.local_end || saved[i] > warp.local_size) {
      return access_fault(
          warp, inst, FaultKind::kStackOverflow, i, saved[i], 0, true);
    }
    warp.stack_top[i] = saved[i];
  }
  return Flow::kNext;
}

#define CUDASIM_STACK(type, T)                             \
  {"alloca." #type,                                        \
   "=t t #u32:1|2|4|8|16|32|64|128|256|512|1024?",         \
   "9.7.15",                                               \
   allocate<T>},                                           \
      {"stacksave." #type, "=t", "9.7.15", save_stack<T>}, \
      {"stackrestore." #type, "t!", "9.7.15", restore_stack<T>},

constexpr Entry kEntries[] = {CUDASIM_STACK(u32, U32) CUDASIM_STACK(u64, U64)};

} // namespace

Family stack_family() {
  return {
      "stack",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "alloca stackrestore stacksave"};
}

} // namespace cudasim::engine::CUDASIM_ISA
