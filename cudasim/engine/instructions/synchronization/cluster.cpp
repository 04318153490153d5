// Instructions of clusters, each of which is one block here. Source: PTX ISA
// 9.7.9 (mapa, getctarank), 9.7.13 (fences).
#include "cudasim/engine/instructions/lanes.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

constexpr int kRankShift = 24; // of an address in shared memory
constexpr U32 kRankMask = 0xff;

/// The place of an address in the block of a rank, as NVIDIA's ptxas computes
/// it: no block but that of rank 0 has memory there.
struct MapShared {
  template <typename T>
  static T run(T address, U32 rank) {
    const T mask = static_cast<T>(kRankMask) << kRankShift;
    return (address & ~mask) | static_cast<T>(rank & kRankMask) << kRankShift;
  }
};
struct RankOfShared {
  template <typename T>
  static U32 run(T address) {
    return static_cast<U32>(address >> kRankShift) & kRankMask;
  }
};
/// The same of generic addresses, which are the host's here. An access to what
/// other ranks get is stopped.
struct Map {
  template <typename T>
  static T run(T address, U32 rank) {
    return (rank & kRankMask) == 0 ? address : static_cast<T>(-16);
  }
};
struct Rank {
  template <typename T>
  static U32 run(T) {
    return 0;
  }
};

Flow fence(Warp&, const Inst&, Mask) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return Flow::kNext;
}

// clang-format off
#define CUDASIM_TYPE(type, T)                                                \
  {"mapa." type, "=t t u32", "9.7.8", binary<Map, T, T, U32>},               \
  {"mapa.shared::cluster." type, "=t t&shared u32", "9.7.8",                 \
   binary<MapShared, T, T, U32>},                                            \
  {"getctarank." type, "=u32 t", "9.7.8", unary<Rank, U32, T>},              \
  {"getctarank.shared::cluster." type, "=u32 t&shared", "9.7.8",             \
   unary<RankOfShared, U32, T>},
#define CUDASIM_ARRIVE(form)                                                 \
  {"barrier.cluster.arrive" form, "orders:", "9.7.12", fence},               \
  {"barrier.cluster.arrive" form ".aligned", "orders:", "9.7.12", fence},
#define CUDASIM_FENCE(text) {"fence." text, "orders:", "9.7.12", fence},

constexpr Entry kEntries[] = {
    CUDASIM_TYPE("u32", U32)
    CUDASIM_TYPE("u64", U64)
    // Who arrives waits where it waits: a barrier of the block is there.
    CUDASIM_ARRIVE("")
    CUDASIM_ARRIVE(".release")
    CUDASIM_ARRIVE(".relaxed")
    CUDASIM_FENCE("proxy.async.global")
    CUDASIM_FENCE("proxy.async.shared::cta")
    CUDASIM_FENCE("proxy.async.shared::cluster")
    CUDASIM_FENCE("mbarrier_init.release.cluster")
    CUDASIM_FENCE(
        "proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster")
    CUDASIM_FENCE(
        "proxy.async::generic.release.sync_restrict::shared::cta.cluster")
    CUDASIM_FENCE("acquire.sync_restrict::shared::cluster.cluster")
    CUDASIM_FENCE("release.sync_restrict::shared::cta.cluster")
};
// clang-format on

} // namespace

Family cluster_family() {
  return {
      "cluster",
      kEntries,
      sizeof(kEntries) / sizeof(kEntries[0]),
      "getctarank mapa"};
}

} // namespace cudasim::engine::CUDASIM_ISA
