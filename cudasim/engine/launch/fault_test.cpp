// What goes wrong in a kernel stops it, with a report that says where.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

class Faults : public KernelTest {
 protected:
  static void expect_in(const std::string& report, const std::string& part) {
    EXPECT_NE(report.find(part), std::string::npos)
        << "'" << part << "' is not in\n"
        << report;
  }
};

Shape blocks_of(std::uint32_t grid, std::uint32_t block) {
  Shape shape;
  shape.grid.x = grid;
  shape.block.x = block;
  return shape;
}

TEST_F(Faults, AReadBehindTheEndNamesThreadAndAllocation) {
  // Thread 70 reads behind the 128 words of `out`: the grid has as many.
  const std::string report = report_of(
      FaultKind::kIllegalAddress,
      R"(setp.eq.u32 %p0, %t, 70;
      @%p0 ld.global.u32 %r0, [%out+240];
      st.global.u32 [%out], %r0;)",
      blocks_of(2, 64));
  expect_in(report, "Invalid read of size 4 bytes");
  expect_in(report, "ld.global.u32 in kernel (test.ptx, PTX line ");
  expect_in(report, "by thread (6,0,0) in block (1,0,0)");
  // 70 * 4 + 240 - 512
  expect_in(report, "8 bytes behind the end of allocation 1 of 512 bytes");
}

TEST_F(Faults, AWriteBeforeTheBeginningNamesTheAllocation) {
  const std::string report = report_of(
      FaultKind::kIllegalAddress,
      R"(setp.eq.u32 %p0, %t, 3;
      @%p0 st.global.v2.u32 [%out+-28], {%r0, %r0};)");
  expect_in(report, "Invalid write of size 8 bytes");
  expect_in(report, "by thread (3,0,0)");
  expect_in(report, "16 bytes before allocation 1 of 128 bytes");
}

TEST_F(Faults, AnAccessAcrossTheEndIsOneToo) {
  report_of(
      FaultKind::kIllegalAddress,
      R"(setp.eq.u32 %p0, %t, 31;
      @%p0 ld.global.u64 %rd0, [%out+-4];
      @%p0 ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%out+-12];
      @%p0 ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%out+4];)");
}

// Memory of which a kernel may read four bytes behind the end.
class PaddedDevice final : public TestDevice {
 public:
  bool may_read_padding(
      std::uint64_t begin,
      std::uint64_t end,
      const char* kernel) const override {
    Range range;
    return find(begin - 4, &range) && begin == range.end &&
        end == range.end + 4 && std::string(kernel) == "k";
  }
};

TEST_F(Faults, ReadsOfPaddingGoOnAndWritesDoNot) {
  const auto fault_of = [](const std::string& code) {
    PaddedDevice padded;
    padded.load(
        ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<2>;\n"
        ".reg .b64 %rd<2>;\nld.param.u64 %rd0, [p];\n" +
        code + "ret;\n}\n");
    return padded.run("k", {}, padded.zeros<std::uint32_t>(8)).fault;
  };
  EXPECT_EQ(fault_of("ld.global.u32 %r0, [%rd0+32];\n"), FaultKind::kNone);
  EXPECT_EQ(fault_of("ld.u32 %r0, [%rd0+32];\n"), FaultKind::kNone);
  const FaultKind illegal = FaultKind::kIllegalAddress;
  EXPECT_EQ(fault_of("ld.global.u32 %r0, [%rd0+36];\n"), illegal);
  EXPECT_EQ(fault_of("st.global.u32 [%rd0+32], 1;\n"), illegal);
  EXPECT_EQ(fault_of("red.global.add.u32 [%rd0+32], 1;\n"), illegal);
}

TEST_F(Faults, TheNullPointerIsNoMemory) {
  const std::string report = report_of(
      FaultKind::kIllegalAddress, "mov.u64 %rd0, 0;\nld.u32 %r0, [%rd0];");
  expect_in(report, "address 0x0");
}

TEST_F(Faults, AMisalignedAccessIsNamed) {
  const std::string report = report_of(
      FaultKind::kMisalignedAddress,
      R"(mov.u32 %r0, 1;
      setp.eq.u32 %p0, %lane, 9;
      @%p0 st.global.u32 [%out+2], %r0;)");
  expect_in(report, "Misaligned write of size 4 bytes");
  expect_in(report, "by thread (9,0,0)");
  report_of(
      FaultKind::kMisalignedAddress,
      "setp.eq.u32 %p0, %lane, 1;\n"
      "@%p0 ld.global.v2.u32 {%r0, %r1}, [%out];");
}

TEST_F(Faults, ConstantsCannotBeWritten) {
  device.load("");
  report_of(
      FaultKind::kIllegalAddress,
      "mov.u64 %rd0, number;\nst.u32 [%rd0], %lane;",
      {},
      ".const .align 4 .u32 number = 5;\n");
}

TEST_F(Faults, SharedAndLocalMemoryEndWhereTheyEnd) {
  const std::string shared = report_of(
      FaultKind::kIllegalAddress,
      R"(.shared .align 4 .b8 data[64];
      mov.u32 %r0, data;
      mad.lo.u32 %r0, %lane, 4, %r0;
      st.shared.u32 [%r0], %lane;)");
  expect_in(shared, "by thread (16,0,0)");
  expect_in(shared, "The block's shared memory has 64 bytes");
  report_of(
      FaultKind::kIllegalAddress,
      R"(.local .align 4 .b8 data[64];
      mov.u64 %rd0, data;
      ld.local.u32 %r0, [%rd0+65536];)");
  report_of(
      FaultKind::kIllegalAddress,
      "mov.u64 %rd0, 4096;\nld.param.u32 %r0, [%rd0];");
}

TEST_F(Faults, AtomicsAreCheckedAsWell) {
  const std::string report = report_of(
      FaultKind::kIllegalAddress, "atom.global.add.u32 %r0, [%out+4], 1;");
  expect_in(report, "atom.global.add.u32");
  expect_in(report, "by thread (31,0,0)");
}

TEST_F(Faults, AMissingInstructionNamesItselfWhenItIsExecuted) {
  const std::string missing =
      "tensormap.cp_fenceproxy.global.shared::cta.release.gpu [%out], [%out];";
  const std::string report = report_of(FaultKind::kUnsupported, missing);
  expect_in(report, "does not have this instruction");
  expect_in(report, "tensormap.cp_fenceproxy");
  expect_in(report, "in kernel");
  const auto words = words_of(
      "setp.eq.u32 %p0, %lane, 99;\n@%p0 " + missing +
      "\n@%p0 bra NEVER;\nst.global.u32 [%out], 1;\nret;\nNEVER:\n" + missing);
  EXPECT_EQ(words[5], 1u);
}

TEST_F(Faults, TrapStopsTheKernel) {
  const std::string report =
      report_of(FaultKind::kTrap, "setp.eq.u32 %p0, %lane, 4;\n@%p0 trap;");
  expect_in(report, "by thread (4,0,0)");
  record_checked("trap");
}

TEST_F(Faults, AnEndlessLoopEndsWithTheTimeout) {
  Shape shape;
  shape.timeout_seconds = 0.2;
  const std::string report =
      report_of(FaultKind::kLaunchTimeout, "LOOP: bra LOOP;", shape);
  expect_in(report, "kernel");
}

TEST_F(Faults, TheFirstOneOfAGridCounts) {
  Shape shape = blocks_of(200, 32);
  shape.workers = 2;
  const std::string report = report_of(
      FaultKind::kIllegalAddress,
      "mov.u64 %rd0, 8;\nst.global.u32 [%rd0], %r0;",
      shape);
  EXPECT_EQ(report.find("Invalid"), report.rfind("Invalid")) << report;
}

TEST_F(Faults, ThePrecedingStoresAreDone) {
  auto* out = device.zeros<std::uint32_t>(32);
  device.load(kernel(
      "st.global.u32 [%out], 5;\nmov.u64 %rd0, 8;\nld.global.u32 %r0, [%rd0];"));
  EXPECT_EQ(
      device.run("kernel", Shape{}, out).fault, FaultKind::kIllegalAddress);
  EXPECT_EQ(out[31], 5u);
}

} // namespace
} // namespace cudasim::engine::testing
