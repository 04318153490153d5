// Bulk copies, as cuda::memcpy_async and cuda::ptx write them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

/// One thread brings `size` bytes to shared memory, all threads wait for them,
/// add one to each word, and one thread brings them back.
std::string round_trip(const std::string& load, const std::string& size) {
  return R"(.visible .entry kernel(.param .u64 from, .param .u64 to) {
  .shared .align 128 .b8 data[2048];
  .shared .align 8 .b64 done;
  .reg .b64 %from, %to, %state, %place;
  .reg .b32 %t, %at, %x, %size, %base, %object;
  .reg .pred %first, %ready;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  mov.u32 %base, data;
  mov.u32 %object, done;
  mov.u32 %size, )" +
      size + R"(;
  @%first mbarrier.init.shared::cta.b64 [done], 64;
  @%first fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @!%first bra OTHERS;
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %state, [done], %size;
)" + load +
      R"(
  bra WAIT;
OTHERS:
  mbarrier.arrive.release.cta.shared::cta.b64 %state, [done];
WAIT:
  mbarrier.try_wait.acquire.cta.shared::cta.b64 %ready, [done], %state;
  @!%ready bra WAIT;
  shl.b32 %at, %t, 2;
  add.u32 %at, %at, %base;
  ld.shared.u32 %x, [%at];
  add.u32 %x, %x, 1;
  st.shared.u32 [%at], %x;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%first bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%to], [%base], %size;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  cp.async.bulk.wait_group 0;
END:
  ret;
})";
}

void check_round_trip(const std::string& load, const std::string& key) {
  TestDevice device;
  std::vector<U32> words(65);
  std::iota(words.begin(), words.end(), 5u);
  auto* from = device.copy_of(words);
  auto* to = device.zeros<U32>(65);
  device.load(round_trip(load, "256"));
  Shape shape;
  shape.block.x = 64;
  const Outcome outcome = device.run("kernel", shape, from, to);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(to[i], words[i] + 1) << i;
  }
  EXPECT_EQ(to[64], 0u);
  record_checked(key);
}

TEST(BulkCopy, BringsBytesFromGlobalMemoryAndBack) {
  const std::string key =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  check_round_trip(key + " [%base], [%from], %size, [%object];", key);
  check_round_trip(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
      "[data], [%from], 128, [done];\n"
      "add.u32 %object, %object, -24;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
      "[data+128], [%from+128], 128, [%object+24];",
      key);
  for (const char* other :
       {"cp.async.bulk.global.shared::cta.bulk_group",
        "cp.async.bulk.commit_group",
        "cp.async.bulk.wait_group",
        "cp.async.bulk.wait_group.read",
        "fence.mbarrier_init.release.cluster",
        "fence.proxy.async.shared::cta"}) {
    record_checked(other);
  }
}

TEST(BulkCopy, BringsBytesWithinSharedMemory) {
  const std::string key =
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
  check_round_trip(
      "cp.async.bulk.prefetch.L2.global [%from], %size;\n"
      ".reg .b32 %i;\nmov.u32 %i, 0;\nFILL:\ncvt.u64.u32 %place, %i;\n"
      "add.u64 %place, %place, %from;\nld.global.u32 %x, [%place];\n"
      "add.u32 %at, %base, %i;\nst.shared.u32 [%at+1024], %x;\n"
      "add.u32 %i, %i, 4;\nsetp.lt.u32 %ready, %i, 256;\n"
      "@%ready bra FILL;\nfence.proxy.async;\n" +
          key + " [%base], [%base+1024], %size, [%object];",
      key);
  record_checked("cp.async.bulk.prefetch.L2.global");
}

TEST(BulkCopy, LeavesOutBytesAtBothEnds) {
  // 48 bytes of an allocation of 44, of which 12 and 4 are left out; the
  // mbarrier counts all of them.
  const std::string key =
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
      ".ignore_oob";
  TestDevice device;
  std::vector<U32> words(11);
  std::iota(words.begin(), words.end(), 1u);
  auto* from = device.copy_of(words);
  auto* to = device.zeros<U32>(12);
  device.load(
      R"(.visible .entry kernel(.param .u64 from, .param .u64 to) {
  .shared .align 16 .b32 data[12];
  .shared .align 8 .b64 done;
  .reg .b64 %from, %to, %state; .reg .b32 %t, %at, %x;
  .reg .pred %first, %ready;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  mov.u32 %at, data;
  mad.lo.u32 %at, %t, 4, %at;
  st.shared.u32 [%at], 77;
  @%first mbarrier.init.shared.b64 [done], 12;
  bar.sync 0;
  @%first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [done], 48;
  @%first )" +
      key +
      R"( [data], [%from], 48, 12, 4, [done];
  mbarrier.arrive.shared.b64 %state, [done];
WAIT:
  mbarrier.test_wait.shared.b64 %ready, [done], %state;
  @!%ready bra WAIT;
  ld.shared.u32 %x, [%at];
  mad.wide.u32 %to, %t, 4, %to;
  st.global.u32 [%to], %x;
  ret; })");
  Shape shape;
  shape.block.x = 12;
  const Outcome outcome = device.run("kernel", shape, from, to);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (U32 i = 0; i < 12; ++i) {
    EXPECT_EQ(to[i], i < 3 || i == 11 ? 77u : words[i]) << i;
  }
  record_checked(key);
}

TEST(BulkCopy, LeavesOutBytesOfEachUnit) {
  const std::string key = "cp.async.bulk.global.shared::cta.bulk_group.cp_mask";
  TestDevice device;
  auto* to = device.copy_of(std::vector<std::uint8_t>(48, 9));
  device.load(R"(.visible .entry kernel(.param .u64 to) {
  .shared .align 16 .b8 data[32];
  .reg .b64 %to; .reg .b32 %i, %at, %x; .reg .b16 %mask; .reg .pred %more;
  ld.param.u64 %to, [to];
  mov.u32 %i, 0;
FILL:
  mov.u32 %at, data;
  add.u32 %at, %at, %i;
  add.u32 %x, %i, 100;
  st.shared.u8 [%at], %x;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 32;
  @%more bra FILL;
  mov.b16 %mask, 0x8005;
  )" + key + R"( [%to+16], [data], 32, %mask;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret; })");
  Shape shape;
  shape.block.x = 1;
  const Outcome outcome = device.run("kernel", shape, to);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (U32 i = 0; i < 48; ++i) {
    const U32 at = i % 16;
    const bool is_copied = i >= 16 && (at == 0 || at == 2 || at == 15);
    EXPECT_EQ(to[i], is_copied ? i - 16 + 100 : 9u) << i;
  }
  record_checked(key);
}

TEST(BulkCopy, StopsAtWhatItMayNotAccess) {
  struct Case {
    const char* copy;
    FaultKind fault;
  };
  const std::string name =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  for (const Case& one :
       {Case{
            "[%base+8], [%from], %size, [%object];",
            FaultKind::kMisalignedAddress},
        Case{
            "[%base], [%from+4], %size, [%object];",
            FaultKind::kMisalignedAddress},
        Case{
            "[%base+2032], [%from], %size, [%object];",
            FaultKind::kIllegalAddress},
        Case{
            "[%base], [%from+16], %size, [%object];",
            FaultKind::kIllegalAddress},
        Case{
            "[%base], [%from], %size, [%object+4];",
            FaultKind::kMisalignedAddress}}) {
    TestDevice device;
    auto* from = device.zeros<U32>(64);
    device.load(round_trip(name + one.copy, "256"));
    testing::Shape shape;
    shape.block.x = 64;
    EXPECT_EQ(device.run("kernel", shape, from, from).fault, one.fault)
        << one.copy;
  }
  // A size that is no multiple of 16.
  TestDevice device;
  auto* from = device.zeros<U32>(64);
  device.load(round_trip(name + "[%base], [%from], %size, [%object];", "24"));
  testing::Shape shape;
  shape.block.x = 64;
  EXPECT_EQ(
      device.run("kernel", shape, from, from).fault,
      FaultKind::kMisalignedAddress);
}

} // namespace
} // namespace cudasim::engine::testing
