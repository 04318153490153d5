// Instructions that have no handler, because the warp's loop executes them
// itself (engine/warp): branches, calls, barriers. Source: PTX ISA 9.7.11
// (control flow), 9.7.12 (barriers).
#include "cudasim/engine/code/control.h"
#include "cudasim/engine/instructions/family.h"

namespace cudasim::engine {
namespace {

// A barrier has one of 16 numbers, and its threads come in whole warps. Whoever
// waits may name none of them, which is all; who only arrives may not.
#define CUDASIM_BARRIER_NUMBER "u32:0..15"
#define CUDASIM_THREADS "u32:32..4294967264/32"
#define CUDASIM_ALL_OR_THREADS "u32:0..4294967264/32"
#define CUDASIM_REDUCTION(name, op, result, reduction)                  \
  {name ".red." op "." result,                                          \
   "=" result " " CUDASIM_BARRIER_NUMBER " pred",                       \
   "9.7.12",                                                            \
   nullptr,                                                             \
   immediate_of(ControlKind::kBarrier, reduction)},                     \
      {name ".red." op "." result,                                      \
       "=" result " " CUDASIM_BARRIER_NUMBER " " CUDASIM_ALL_OR_THREADS \
       " pred",                                                         \
       "9.7.12",                                                        \
       nullptr,                                                         \
       immediate_of(ControlKind::kBarrier, reduction)},
#define CUDASIM_BARRIER(name, suffix)                                \
  {name ".sync" suffix,                                              \
   CUDASIM_BARRIER_NUMBER " " CUDASIM_ALL_OR_THREADS "?",            \
   "9.7.12",                                                         \
   nullptr,                                                          \
   immediate_of(ControlKind::kBarrier)},                             \
      {name ".arrive" suffix,                                        \
       CUDASIM_BARRIER_NUMBER " " CUDASIM_THREADS,                   \
       "9.7.12",                                                     \
       nullptr,                                                      \
       immediate_of(ControlKind::kBarrierArrive)},                   \
      CUDASIM_REDUCTION(                                             \
          name suffix, "popc", "u32", BarrierReduction::kPopulation) \
          CUDASIM_REDUCTION(                                         \
              name suffix, "and", "pred", BarrierReduction::kAnd)    \
              CUDASIM_REDUCTION(                                     \
                  name suffix, "or", "pred", BarrierReduction::kOr)

// A cluster is one block: whoever waits meets its other threads.
#define CUDASIM_CLUSTER(form)                  \
  {"barrier.cluster.wait" form,                \
   "",                                         \
   "9.7.12",                                   \
   nullptr,                                    \
   immediate_of(ControlKind::kBarrier)},       \
      {"barrier.cluster.wait" form ".aligned", \
       "",                                     \
       "9.7.12",                               \
       nullptr,                                \
       immediate_of(ControlKind::kBarrier)},

constexpr Entry kEntries[] = {
    {"bra", "label", "9.7.11", nullptr, immediate_of(ControlKind::kBranch)},
    {"brx.idx",
     "u32 targets",
     "9.7.11",
     nullptr,
     immediate_of(ControlKind::kIndexedBranch)},
    // Out of a kernel it is exit.
    {"ret", "", "9.7.11", nullptr, immediate_of(ControlKind::kReturn)},
    {"exit", "", "9.7.11", nullptr, immediate_of(ControlKind::kExit)},
    {"trap", "", "9.7.18", nullptr, immediate_of(ControlKind::kTrap)},
    {"bar.warp.sync",
     "members",
     "9.7.12",
     nullptr,
     immediate_of(ControlKind::kWarpBarrier)},
    CUDASIM_BARRIER("bar", "") CUDASIM_BARRIER("bar.cta", "")
        CUDASIM_BARRIER("barrier", "") CUDASIM_BARRIER("barrier.cta", "")
            CUDASIM_BARRIER("barrier", ".aligned")
                CUDASIM_BARRIER("barrier.cta", ".aligned") CUDASIM_CLUSTER("")
                    CUDASIM_CLUSTER(".acquire")};

} // namespace

Family control_family() {
  return {
      "control",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "bra brx exit ret trap"};
}

} // namespace cudasim::engine
