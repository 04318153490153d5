// The table of requirements, by chapters of the PTX ISA.
#pragma once

#include "cudasim/engine/targets/requirements.h"

namespace cudasim::engine {

// Of all families that have what belongs to a family.
#define CUDASIM_FAMILIES "100f 103f 107f 110f 120f 121f"

// clang-format off
inline constexpr Requirement kRequirements[] = {
    // Arithmetic and comparisons.
    {"szext|bmsk", "70", {7, 6}},
    {"dp2a|dp4a", "61", {5, 0}},
    {"add|sub|mul|fma|abs|neg|min|max|set|setp f16|f16x2", "53", {4, 2}},
    {"abs f16|f16x2", "53", {6, 5}},
    {"set f16$|f16x2$ u16|s16|u32|s32", "53", {6, 5}},
    {"min|max f16|f16x2|bf16|bf16x2|NaN", "80", {7, 0}},
    {"min|max xorsign", "86", {7, 2}},
    {"min|max f32 #4", "100", {8, 8}},
    {"abs|neg|fma bf16|bf16x2", "80", {7, 0}},
    {"fma relu", "80", {7, 0}},
    {"fma oob", "90", {8, 1}},
    {"add|sub|mul|set|setp bf16|bf16x2", "90", {7, 8}},
    {"add|min|max s16x2|u16x2", "90", {8, 0}},
    {"min|max relu", "90", {8, 0}},
    {"add|sub|min|max u8x4|s8x4", "107f 120f 121f", {8, 6}},
    {"add|sub|mul|fma f32x2", "100", {8, 6}},
    {"add|sub|fma f32 f16|bf16", "100", {8, 6}},
    {"tanh", "75", {7, 0}},
    {"ex2 f16|f16x2", "75", {7, 0}},
    {"ex2|tanh bf16|bf16x2", "90", {7, 8}},
    {"lop3", "50", {4, 3}},
    {"lop3 and|or", "70", {8, 2}},

    // Conversions.
    {"cvt bf16|bf16x2|f16x2|tf32|relu", "80", {7, 0}},
    {"cvt f32 bf16 !rn !rz !rm !rp", "80", {7, 1}},
    {"cvt bf16 !f32", "90", {7, 8}},
    {"cvt tf32 rn|rz", "90", {7, 8}},
    {"cvt tf32 satfinite rn|rz", "100", {8, 6}},
    {"cvt f32 satfinite f16|f16x2|bf16|bf16x2|tf32", "70", {8, 1}},
    {"cvt rs", "100a 103a 107a", {8, 7}},
    {"cvt e4m3x2|e5m2x2", "89", {7, 8}},
    {"cvt e2m1x2|e2m3x2|e3m2x2|ue8m0x2", CUDASIM_FAMILIES, {8, 6}},
    {"cvt pack", "72", {6, 5}},
    {"cvt pack u4|s4|u2|s2", "75", {6, 5}},

    // Memory: scopes, orders, hints, widths.
    {"ld|st|atom|red|mbarrier|fence cluster", "90", {7, 8}},
    {"ld|st|atom|red|mbarrier|cp|cvta|isspacep shared::cluster", "90", {7, 8}},
    {"ld|st|atom|red|cvta|isspacep shared::cta", "", {7, 8}},
    {"ld|st|cvta|isspacep param::*", "", {8, 3}},
    {"cvta|isspacep param*", "70", {7, 7}},
    {"ld|st|atom|red weak|relaxed|acquire|release|acq_rel", "70", {6, 0}},
    {"ld|st mmio", "70", {8, 2}},
    {"ld|st volatile local", "", {9, 1}},
    {"ld|st L1::*", "70", {7, 4}},
    {"ld L2::64B|L2::128B", "75", {7, 4}},
    {"ld L2::256B", "80", {7, 4}},
    {"ld|st|atom|red L2::cache_hint", "80", {7, 4}},
    {"ld|st L2::evict_*", "100", {8, 8}},
    {"ld|st v8", "100", {8, 8}},
    {"ld|st v4 b64|u64|s64|f64", "100", {8, 8}},
    {"ld|st|mov b128", "70", {8, 3}},
    {"st|red async", "90", {8, 1}},
    {"prefetch L2::*", "80", {7, 4}},
    {"prefetch tensormap", "90", {8, 0}},
    {"applypriority|createpolicy|discard", "80", {7, 4}},
    {"cp async", "80", {7, 0}},
    {"cp L2::*", "80", {7, 4}},
    {"cp bulk", "90", {8, 0}},
    {"alloca|stackrestore|stacksave", "52", {7, 3}},

    // Atomic operations and fences.
    {"atom|red cta|gpu|sys", "60", {5, 0}},
    {"atom|red add f64", "60", {5, 0}},
    {"atom|red f16x2", "60", {6, 2}},
    {"atom|red f16", "70", {6, 3}},
    {"atom b16", "70", {6, 3}},
    {"atom|red bf16|bf16x2", "90", {7, 8}},
    {"atom|red v2|v4|v8", "90", {8, 1}},
    {"atom b128", "90", {8, 3}},
    {"membar proxy", "60", {7, 5}},
    {"fence", "70", {6, 0}},
    {"fence proxy", "70", {7, 5}},
    {"fence|membar proxy async*", "90", {8, 0}},
    {"fence tensormap::*", "90", {8, 3}},
    {"fence mbarrier_init", "90", {8, 0}},
    {"fence acquire|release !proxy !mbarrier_init", "90", {8, 6}},

    // Threads together.
    {"activemask", "", {6, 2}},
    {"bar warp", "", {6, 0}},
    {"bar|barrier cta", "", {7, 8}},
    {"barrier", "", {6, 0}},
    {"barrier cluster", "90", {7, 8}},
    {"barrier cluster acquire|release|relaxed", "90", {8, 0}},
    {"elect", "90", {8, 0}},
    {"griddepcontrol", "90", {7, 8}},
    {"match", "70", {6, 0}},
    {"nanosleep", "70", {6, 2}},
    {"redux", "80", {7, 0}},
    {"redux f32", "100f 103f 107f", {8, 6}},
    {"shfl|vote sync", "", {6, 0}},
    {"shfl|vote !sync", "10-62", {}},
    {"mbarrier", "80", {7, 0}},
    {"mbarrier parity", "80", {7, 1}},
    {"mbarrier acquire|release|relaxed", "80", {8, 0}},
    {"mbarrier try_wait", "90", {7, 8}},
    {"mbarrier arrive|arrive_drop !noComplete #3", "90", {7, 8}},
    {"mbarrier expect_tx|complete_tx", "90", {8, 0}},

    // Matrices.
    {"wmma", "70", {6, 3}},
    {"wmma s8|u8|s32", "72", {6, 3}},
    {"wmma s4|u4|b1|m8n8k32|m8n8k128", "75", {6, 3}},
    {"wmma bf16|tf32|f64|m16n16k8|m8n8k4", "80", {7, 0}},
    {"wmma b1 and", "80", {7, 1}},
    {"mma", "70", {6, 4}},
    {"mma !m8n8k4", "75", {6, 5}},
    {"mma b1", "75", {7, 0}},
    {"mma bf16|tf32|f64", "80", {7, 0}},
    {"mma m16n8k4|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256",
     "80", {7, 0}},
    {"mma b1 and", "80", {7, 1}},
    {"mma sp", "80", {7, 1}},
    {"mma sp::ordered_metadata", "80", {8, 5}},
    {"mma e4m3|e5m2", "89", {8, 4}},
    {"mma f64 !m8n8k4", "90", {7, 8}},
    {"mma block_scale|kind::f8f6f4", "120f 121f", {8, 7}},
    {"ldmatrix", "75", {6, 5}},
    {"ldmatrix !b16", CUDASIM_FAMILIES, {8, 6}},
    {"movmatrix", "75", {7, 8}},
    {"stmatrix", "90", {7, 8}},
    {"stmatrix b8", CUDASIM_FAMILIES, {8, 6}},

    // Textures and surfaces.
    {"tex f16|f16x2", "53", {4, 2}},
    {"tex|tld4 #pair", "60", {7, 1}},
    {"sured s64|b64", "50", {8, 1}},
    {"sured u64 min|max", "50", {8, 1}},

    // Of newer devices, not executed here.
    {"getctarank|mapa", "90", {7, 8}},
    {"multimem", "90", {8, 1}},
    {"setmaxnreg", "90a " CUDASIM_FAMILIES, {8, 0}},
    {"tensormap", "90", {8, 3}},
    {"tensormap replace", "90a " CUDASIM_FAMILIES, {8, 3}},
    {"wgmma", "90a", {8, 0}},
    {"clusterlaunchcontrol", "100", {8, 6}},
    {"tcgen05", "100f 103f 107f 110f", {8, 6}},
    {"tcgen05 kind::i8", "100a 110a", {8, 6}},

    // Special registers.
    {"%clusterid|%nclusterid|%cluster_ctaid|%cluster_nctaid",
     "90", {7, 8}},
    {"%cluster_ctarank|%cluster_nctarank|%is_explicit_cluster",
     "90", {7, 8}},
    {"%aggr_smem_size", "90", {8, 1}},
    {"%total_smem_size|%dynamic_smem_size", "", {4, 1}},
    {"%reserved_smem_offset_begin|%reserved_smem_offset_end", "80", {7, 6}},
    {"%reserved_smem_offset_cap", "80", {7, 6}},
    {"%reserved_smem_offset_0|%reserved_smem_offset_1", "80", {7, 6}},
    {"%current_graph_exec", "50", {8, 0}},
    {"%clock_hi", "", {5, 0}},
};
// clang-format on

#undef CUDASIM_FAMILIES

} // namespace cudasim::engine
