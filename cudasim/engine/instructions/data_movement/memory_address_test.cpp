// Conversions of addresses, and what leaves memory as it is: fences,
// prefetches.
#include <gtest/gtest.h>

#include <string>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

std::string number(std::size_t value) {
  return std::to_string(value);
}

TEST(MemoryAddress, AddressesConvertToGenericOnesAndBack) {
  struct Case {
    std::string space;
    std::string declaration; // of `data`, in the kernel
    std::string address;
  };
  const Case cases[] = {
      {".global", "", "ld.param.u64 %a, [in];\n"},
      {".const", "", "mov.u64 %a, constant;\n"},
      {".shared", ".shared .align 8 .b8 data[64];\n", "mov.u64 %a, data;\n"},
      {".local", ".local .align 8 .b8 data[64];\n", "mov.u64 %a, data;\n"},
      {".param", "", "mov.u64 %a, number;\n"},
  };
  for (const Case& space : cases) {
    TestDevice device;
    auto* in = device.zeros<std::uint64_t>(1);
    auto* out = device.zeros<std::uint32_t>(32 * 8);
    const bool readable = space.space == ".param" || space.space == ".const";
    std::string text =
        ".const .align 8 .u64 constant = 4711;\n"
        ".visible .entry kernel(.param .u64 in, .param .u64 out,"
        " .param .u64 number) {\n" +
        space.declaration +
        ".reg .b64 %a, %g, %b, %v, %p;\n.reg .b32 %lane, %r<8>;\n"
        ".reg .pred %t<8>;\nmov.u32 %lane, %tid.x;\n" +
        space.address + "cvta" + space.space + ".u64 %g, %a;\n" + "cvta.to" +
        space.space +
        ".u64 %b, %g;\n"
        "setp.eq.u64 %t0, %a, %b;\n";
    if (!readable) {
      text += "st" + space.space + ".u64 [%a], 4711;\n";
    }
    // What was stored is there at the generic address.
    text +=
        "ld.u64 %v, [%g];\nsetp.eq.u64 %t1, %v, 4711;\n"
        "isspacep.global %t2, %g;\nisspacep.shared %t3, %g;\n"
        "isspacep.local %t4, %g;\nisspacep.param %t5, %g;\n"
        "isspacep.const %t6, %g;\n"
        "ld.param.u64 %p, [out];\nmad.wide.u32 %p, %lane, 32, %p;\n";
    for (std::size_t i = 0; i < 7; ++i) {
      text += "selp.u32 %r" + number(i) + ", 1, 0, %t" + number(i) +
          ";\nst.global.u32 [%p+" + number(4 * i) + "], %r" + number(i) + ";\n";
    }
    device.load(text + "ret;\n}\n");
    const Outcome outcome =
        device.run("kernel", Shape{}, in, out, std::uint64_t{4711});
    ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t* flags = out + 8 * lane;
      EXPECT_EQ(flags[0], 1u) << "back to " << space.space;
      EXPECT_EQ(flags[1], 1u) << "generic load from " << space.space;
      EXPECT_EQ(flags[3], space.space == ".shared") << space.space;
      EXPECT_EQ(flags[4], space.space == ".local") << space.space;
      EXPECT_EQ(flags[5], space.space == ".param") << space.space;
      EXPECT_EQ(flags[2], space.space == ".global") << space.space;
      EXPECT_EQ(flags[6], space.space == ".const") << space.space;
    }
    record_checked("cvta" + space.space + ".u64");
    record_checked("cvta.to" + space.space + ".u64");
    record_checked("isspacep" + space.space);
  }
}

TEST(MemoryAddress, AKernelsParametersHaveAddressesOfTheirOwn) {
  TestDevice device;
  auto* out = device.zeros<std::uint32_t>(4);
  device.load(R"(.visible .entry kernel(.param .u64 out, .param .u32 five) {
    .reg .b64 %out, %a, %b;
    .reg .b32 %r;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.b64 %a, five;
    cvta.param::entry.u64 %a, %a;
    isspacep.param::entry %p, %a;
    selp.u32 %r, 1, 0, %p;
    st.global.u32 [%out], %r;
    isspacep.param::entry %p, %out;
    selp.u32 %r, 1, 0, %p;
    st.global.u32 [%out+4], %r;
    ld.u32 %r, [%a];
    st.global.u32 [%out+8], %r;
    // No graph that a device launched.
    mov.u64 %b, %current_graph_exec;
    cvt.u32.u64 %r, %b;
    add.u32 %r, %r, 9;
    st.global.u32 [%out+12], %r;
    ret;
  })");
  const Outcome outcome = device.run("kernel", Shape{}, out, 5u);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  EXPECT_EQ(
      std::vector<std::uint32_t>(out, out + 4),
      (std::vector<std::uint32_t>{1, 0, 5, 9}));
}

/// Runs `code` between a store and a load of another lane's word.
void check_keeps_memory(const std::string& key, const std::string& code) {
  TestDevice device;
  auto* words = device.zeros<std::uint32_t>(64);
  device.load(
      ".visible .entry kernel(.param .u64 words) {\n"
      ".reg .b64 %p, %q;\n.reg .b32 %lane, %x;\n"
      ".local .align 4 .b8 own[4];\n"
      "ld.param.u64 %p, [words];\nmov.u32 %lane, %tid.x;\n"
      "mad.wide.u32 %q, %lane, 4, %p;\nst.global.u32 [%q], %lane;\n" +
      code +
      "\nxor.b32 %x, %lane, 31;\nmad.wide.u32 %p, %x, 4, %p;\n"
      "ld.global.u32 %x, [%p];\nst.global.u32 [%q+128], %x;\nret;\n}\n");
  const Outcome outcome = device.run("kernel", Shape{}, words);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << code;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane) << key;
    EXPECT_EQ(words[32 + lane], 31 - lane) << key;
  }
  record_checked(key);
}

TEST(MemoryAddress, FencesAndPrefetchesChangeNothing) {
  for (const std::string scope : {"cta", "gl", "sys", "gpu", "cluster"}) {
    for (const std::string fence :
         {"membar.",
          "fence.sc.",
          "fence.acq_rel.",
          "fence.acquire.",
          "fence.release."}) {
      if (is_instruction(fence + scope)) {
        check_keeps_memory(fence + scope, fence + scope + ";");
      }
    }
  }
  for (const std::string fence : {"fence", "membar"}) {
    for (const std::string proxy : {".proxy.alias", ".proxy.async"}) {
      check_keeps_memory(fence + proxy, fence + proxy + ";");
    }
  }
  for (const std::string grids : {"wait", "launch_dependents"}) {
    check_keeps_memory(
        "griddepcontrol." + grids, "griddepcontrol." + grids + ";");
  }
  check_keeps_memory("prefetch.global", "prefetch.global.L2 [%q];");
  check_keeps_memory(
      "prefetch.local",
      "mov.u64 %q, own;\nprefetch.local.L1 [%q];\n"
      "mad.wide.u32 %q, %lane, 4, %p;");
  check_keeps_memory("prefetch", "prefetch.L1 [%q];");
  check_keeps_memory("prefetchu", "prefetchu.L1 [%q];");
  check_keeps_memory("nanosleep.u32", "nanosleep.u32 100;");
  check_keeps_memory("pmevent", "pmevent 1;");
  check_keeps_memory("pmevent.mask", "pmevent.mask 6;");
}

TEST(MemoryAddress, PoliciesOfTheCacheChangeNothing) {
  const std::string accesses =
      "ld.global.L2::cache_hint.u32 %x, [%q], %policy;\n"
      "st.global.L2::cache_hint.u32 [%q], %x, %policy;\n";
  for (const std::string priorities :
       {"L2::evict_last",
        "L2::evict_last.L2::evict_first",
        "L2::evict_last.L2::evict_unchanged",
        "L2::evict_normal",
        "L2::evict_normal.L2::evict_first",
        "L2::evict_normal.L2::evict_unchanged",
        "L2::evict_first",
        "L2::evict_first.L2::evict_unchanged",
        "L2::evict_unchanged"}) {
    const std::string create = "createpolicy.fractional." + priorities + ".b64";
    for (const std::string fraction : {"", ", 0.5"}) {
      check_keeps_memory(
          create,
          ".reg .b64 %policy;\n" + create + " %policy" + fraction + ";\n" +
              accesses);
    }
  }
  check_keeps_memory(
      "createpolicy.cvt.L2.b64",
      ".reg .b64 %policy;\n"
      "createpolicy.cvt.L2.b64 %policy, 0x10F0000000000000;\n" +
          accesses);
  // Each lane writes its word again where the line is given up.
  for (const std::string space : {".global", ""}) {
    const std::string priority = ".L2::evict_normal";
    check_keeps_memory(
        "applypriority" + space + priority,
        "applypriority" + space + priority + " [%p], 128;");
    check_keeps_memory(
        "discard" + space + ".L2",
        "discard" + space + ".L2 [%p], 128;\nst.global.u32 [%q], %lane;");
  }
}

} // namespace
} // namespace cudasim::engine::testing
