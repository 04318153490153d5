// What a launch gives a kernel: blocks, threads, special registers, shared
// memory, parameters, variables of the module; and what is known beforehand.
#include "cudasim/engine/testing/kernel_test.h"

#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <set>
#include <thread>

#include "cudasim/ptx/parser.h"

namespace cudasim::engine::testing {
namespace {

class Launches : public KernelTest {};
using U32 = std::uint32_t;

TEST_F(Launches, ThreadsAndBlocksHaveThreeDimensions) {
  // A word for each of 2 x 3 x 2 blocks of 5 x 4 x 3 threads.
  auto* out = device.zeros<U32>(12 * 60 * 6);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .reg .b64 %p; .reg .b32 %x<6>, %n<6>, %block, %thread;
    mov.u32 %x0, %tid.x; mov.u32 %x1, %tid.y; mov.u32 %x2, %tid.z;
    mov.u32 %x3, %ctaid.x; mov.u32 %x4, %ctaid.y; mov.u32 %x5, %ctaid.z;
    mov.u32 %n0, %ntid.x; mov.u32 %n1, %ntid.y; mov.u32 %n2, %ntid.z;
    mov.u32 %n3, %nctaid.x; mov.u32 %n4, %nctaid.y;
    mad.lo.u32 %block, %x5, %n4, %x4;
    mad.lo.u32 %block, %block, %n3, %x3;
    mad.lo.u32 %thread, %x2, %n1, %x1;
    mad.lo.u32 %thread, %thread, %n0, %x0;
    mad.lo.u32 %block, %block, %n0, 0;
    mul.lo.u32 %block, %block, %n1;
    mad.lo.u32 %thread, %block, %n2, %thread;
    ld.param.u64 %p, [out];
    mad.wide.u32 %p, %thread, 24, %p;
    st.global.u32 [%p], %x0; st.global.u32 [%p+4], %x1;
    st.global.u32 [%p+8], %x2; st.global.u32 [%p+12], %x3;
    st.global.u32 [%p+16], %x4; st.global.u32 [%p+20], %x5;
    ret; })");
  Shape shape{{2, 3, 2}, {5, 4, 3}};
  shape.workers = 2;
  ASSERT_EQ(device.run("kernel", shape, out).fault, FaultKind::kNone);
  std::size_t at = 0;
  for (U32 bz = 0; bz < 2; ++bz) {
    for (U32 by = 0; by < 3; ++by) {
      for (U32 bx = 0; bx < 2; ++bx) {
        for (U32 z = 0; z < 3; ++z) {
          for (U32 y = 0; y < 4; ++y) {
            for (U32 x = 0; x < 5; ++x, at += 6) {
              const std::vector<U32> right{x, y, z, bx, by, bz};
              EXPECT_EQ(std::vector<U32>(out + at, out + at + 6), right);
            }
          }
        }
      }
    }
  }
}

TEST_F(Launches, SpecialRegistersTellOfLaneAndWarp) {
  struct Case {
    const char* name;
    U32 (*right)(U32 thread);
  };
  const Case cases[] = {
      {"%laneid", [](U32 t) { return t % 32; }},
      {"%warpid", [](U32 t) { return t / 32; }},
      {"%nwarpid", [](U32) { return 3u; }},
      {"%lanemask_eq", [](U32 t) { return 1u << t % 32; }},
      {"%lanemask_lt", [](U32 t) { return (1u << t % 32) - 1; }},
      {"%lanemask_le", [](U32 t) { return ~(~1u << t % 32); }},
      {"%lanemask_gt", [](U32 t) { return ~1u << t % 32; }},
      {"%lanemask_ge", [](U32 t) { return ~0u << t % 32; }},
      {"%dynamic_smem_size", [](U32) { return 48u; }},
      {"WARP_SZ", [](U32) { return 32u; }},
  };
  Shape shape;
  shape.block.x = 80;
  shape.dynamic_shared_bytes = 48;
  for (const Case& special : cases) {
    if (std::string(special.name) == "%nwarpid") {
      continue; // PTX does not say that it is the block's
    }
    const auto words = words_of(
        "mov.u32 %r5, " + std::string(special.name) +
            ";\nst.global.u32 [%out], %r5;",
        shape);
    for (U32 thread = 0; thread < 80; ++thread) {
      EXPECT_EQ(words[thread], special.right(thread)) << special.name;
    }
  }
}

TEST_F(Launches, MultiprocessorsAreThoseOfTheDevice) {
  Shape shape;
  shape.grid.x = 40;
  const auto words = words_of(
      R"(mov.u32 %r5, %smid;
      mov.u32 %r6, %nsmid;
      setp.lt.u32 %p0, %r5, %r6;
      selp.u32 %r7, 1, 0, %p0;
      st.global.u32 [%out], %r7;)",
      shape);
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), 40 * 32);
}

TEST_F(Launches, ClocksGoOn) {
  const auto words = words_of(R"(
    mov.u64 %rd0, %clock64;
    mov.u64 %rd2, %globaltimer;
    nanosleep.u32 1000;
    mov.u64 %rd1, %clock64;
    mov.u64 %rd3, %globaltimer;
    setp.ge.u64 %p0, %rd1, %rd0;
    setp.ge.u64 %p1, %rd3, %rd2;
    setp.ne.and.u64 %p2, %rd2, 0, %p1;
    and.pred %p0, %p0, %p2;
    selp.u32 %r0, 1, 0, %p0;
    st.global.u32 [%out], %r0;)");
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), 32);
}

/// Threads of a block, the counter that blocks come to, and how a block waits.
std::string grid_barrier(const std::string& wait) {
  return R"(.visible .entry kernel(.param .u64 counters, .param .u32 blocks) {
    .reg .b64 %p; .reg .b32 %r<8>; .reg .pred %q;
    ld.param.u64 %p, [counters]; ld.param.u32 %r0, [blocks];
    mov.u32 %r1, %tid.x; setp.ne.u32 %q, %r1, 0;
    mov.u32 %r5, 32;
    @%q bra JOINED;
    atom.global.add.u32 %r2, [%p], 1;
  AGAIN:
    )" +
      wait + R"(
    ld.volatile.global.u32 %r3, [%p];
    setp.lt.u32 %q, %r3, %r0;
    @%q bra AGAIN;
  JOINED:
    bar.sync 0;
    red.global.add.u32 [%p+4], 1;
    ret; })";
}

// A block whose threads spin, or wait for those that do, is of no use until
// others have run: it gives way soon, by what it executes.
TEST_F(Launches, BlocksThatOnlySpinGiveWay) {
  constexpr U32 kBlocks = 64;
  const std::string backoff =
      "nanosleep.u32 %r5; shl.b32 %r5, %r5, 1; min.u32 %r5, %r5, 4096;";
  const std::string fence = "membar.gl;";
  for (const std::string& wait :
       {std::string(), fence, std::string("nanosleep.u32 100;"), backoff}) {
    for (const U32 threads : {32u, 256u}) {
      for (const unsigned workers : {1u, 2u}) {
        auto* counters = device.zeros<U32>(2);
        device.load(grid_barrier(wait));
        Shape shape;
        shape.grid.x = kBlocks;
        shape.block.x = threads;
        shape.workers = workers;
        const Outcome ended = device.run("kernel", shape, counters, kBlocks);
        ASSERT_EQ(ended.fault, FaultKind::kNone) << ended.report;
        EXPECT_EQ(counters[1], kBlocks * threads);
        // All turns of all blocks together are less than one turn was before.
        if (workers == 1) {
          EXPECT_LT(ended.warp_instructions, 1u << 21) << wait;
        }
      }
    }
  }
}

// What goes on in other warps of the block is what the spinning one waits for:
// the block is not set aside for it, and gets on.
TEST_F(Launches, ABlockWithWorkIsNotTakenForOneThatSpins) {
  auto* out = device.zeros<U32>(1);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .reg .b64 %p; .reg .b32 %r<8>; .reg .pred %q;
    .shared .align 4 .b8 flag[4];
    ld.param.u64 %p, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r4, 0;
    setp.eq.u32 %q, %r1, 0; @%q st.shared.u32 [flag], %r4;
    bar.sync 0;
    setp.lt.u32 %q, %r1, 32; @%q bra SPIN;
  WORK:
    add.u32 %r4, %r4, 1; setp.lt.u32 %q, %r4, 100000; @%q bra WORK;
    st.volatile.shared.u32 [flag], %r4;
    ret;
  SPIN:
    ld.volatile.shared.u32 %r3, [flag];
    setp.eq.u32 %q, %r3, 0; @%q bra SPIN;
    st.global.u32 [%p], %r3;
    ret; })");
  Shape shape;
  shape.block.x = 64;
  ASSERT_EQ(device.run("kernel", shape, out).fault, FaultKind::kNone);
  EXPECT_EQ(*out, 100000u);
}

TEST_F(Launches, StaticAndDynamicSharedMemoryLieApart) {
  Shape shape;
  shape.grid.x = 4;
  shape.block.x = 64;
  shape.dynamic_shared_bytes = 64 * 8;
  shape.workers = 2;
  const auto words = words_of(
      R"(.shared .align 8 .b8 first[256];
      .shared .align 4 .b8 second[256];
      mov.u32 %r5, %tid.x;
      mov.u32 %r0, first;  mad.lo.u32 %r0, %r5, 4, %r0;
      mov.u32 %r1, second; mad.lo.u32 %r1, %r5, 4, %r1;
      mov.u32 %r2, dynamic; mad.lo.u32 %r2, %r5, 8, %r2;
      add.u32 %r6, %t, 1000; add.u32 %r7, %t, 2000; add.u32 %r8, %t, 3000;
      st.shared.u32 [%r0], %r6;
      st.shared.u32 [%r1], %r7;
      st.shared.u32 [%r2], %r8; st.shared.u32 [%r2+4], %r8;
      bar.sync 0;
      ld.shared.u32 %r6, [%r0]; ld.shared.u32 %r7, [%r1];
      ld.shared.u32 %r8, [%r2]; ld.shared.u32 %r9, [%r2+4];
      add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8; add.u32 %r6, %r6, %r9;
      st.global.u32 [%out], %r6;)",
      shape,
      ".extern .shared .align 8 .b8 dynamic[];\n");
  for (U32 thread = 0; thread < 256; ++thread) {
    EXPECT_EQ(words[thread], 4 * thread + 9000);
  }
}

TEST_F(Launches, ParametersLieAtTheirAlignment) {
  struct Pair {
    double x;
    std::uint16_t y;
  };
  auto* out = device.zeros<double>(5);
  device.load(R"(.visible .entry kernel(.param .u8 a, .param .u16 b,
    .param .f64 c, .param .u32 d, .param .align 8 .b8 e[16], .param .u64 out) {
    .reg .b64 %p, %v; .reg .b32 %w; .reg .b16 %h;
    ld.param.u64 %p, [out];
    ld.param.u8 %h, [a]; cvt.rn.f64.u16 %v, %h; st.global.f64 [%p], %v;
    ld.param.s16 %h, [b]; cvt.rn.f64.s16 %v, %h; st.global.f64 [%p+8], %v;
    ld.param.f64 %v, [c]; st.global.f64 [%p+16], %v;
    ld.param.u32 %w, [d]; cvt.rn.f64.u32 %v, %w; st.global.f64 [%p+24], %v;
    ld.param.f64 %v, [e]; ld.param.u16 %h, [e+8];
    { .reg .b64 %u; cvt.rn.f64.u16 %u, %h; add.f64 %v, %v, %u; }
    st.global.f64 [%p+32], %v;
    ret; })");
  const KernelInfo& info =
      device.module().info(*device.module().kernel("kernel"));
  const std::size_t offsets[] = {0, 2, 8, 16, 24, 40};
  ASSERT_EQ(info.parameters.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(info.parameters[i].offset, offsets[i]);
  }
  Shape one;
  one.block.x = 1;
  const Outcome ended = device.run(
      "kernel",
      one,
      std::uint8_t{200},
      std::int16_t{-7},
      2.5,
      U32{4000000000u},
      Pair{0.25, 9},
      out);
  ASSERT_EQ(ended.fault, FaultKind::kNone) << ended.report;
  EXPECT_EQ(
      std::vector<double>(out, out + 5),
      (std::vector<double>{200, -7, 2.5, 4e9, 9.25}));
}

TEST_F(Launches, VariablesOfTheModuleKeepTheirValues) {
  const std::string variables =
      ".global .align 4 .u32 counter = 5;\n"
      ".const .align 4 .f32 table[3] = {0f3F800000, 2.5, 4.0};\n"
      ".global .align 8 .u64 pointer = counter;\n";
  words_of(
      R"(mov.u64 %rd0, pointer;
      ld.global.u64 %rd1, [%rd0];
      red.global.add.u32 [%rd1], 1;)",
      {},
      variables);
  const Symbol* counter = device.module().symbol("counter");
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->size, 4u);
  EXPECT_EQ(*reinterpret_cast<U32*>(counter->address), 37u);
  const Symbol* table = device.module().symbol("table");
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->is_const);
  EXPECT_EQ(reinterpret_cast<float*>(table->address)[1], 2.5f);
  EXPECT_EQ(device.module().symbol("nothing"), nullptr);
}

TEST_F(Launches, LimitsOfAKernelAreKnown) {
  device.load(R"(
    .visible .entry plain() { .shared .align 16 .b8 s[100];
      .reg .b32 %x; mov.u32 %x, s; ret; }
    .visible .entry bounded() .maxntid 64, 2, 1 { ret; }
    .visible .entry required() .reqntid 8, 4, 2 { ret; }
    .visible .entry few() .maxnreg 12 { ret; })");
  Module& program = device.module();
  const auto names = program.kernel_names();
  EXPECT_EQ(
      std::set<std::string>(names.begin(), names.end()),
      (std::set<std::string>{"plain", "bounded", "required", "few"}));
  const KernelInfo& plain = program.info(*program.kernel("plain"));
  EXPECT_EQ(plain.static_shared_bytes, 100u);
  EXPECT_EQ(plain.max_threads, 1024u);
  EXPECT_EQ(plain.ptx_target, 107u);
  EXPECT_EQ(program.info(*program.kernel("bounded")).max_threads, 128u);
  const KernelInfo& required = program.info(*program.kernel("required"));
  EXPECT_EQ(required.max_threads, 64u);
  EXPECT_EQ(required.required_threads.y, 4u);
  EXPECT_EQ(program.info(*program.kernel("few")).registers, 12u);
  EXPECT_EQ(program.kernel("missing"), nullptr);
}

TEST_F(Launches, BlocksOfOneHostThreadRunInTheirOrder) {
  Shape shape;
  shape.grid = {3, 2, 2};
  shape.block.x = 1;
  auto* out = device.zeros<U32>(13);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .reg .b64 %p, %q; .reg .b32 %i, %x, %y, %z;
    ld.param.u64 %p, [out];
    mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
    mad.lo.u32 %y, %z, 2, %y; mad.lo.u32 %x, %y, 3, %x;
    atom.global.add.u32 %i, [%p], 1;
    mad.wide.u32 %q, %i, 4, %p;
    st.global.u32 [%q+4], %x;
    ret; })");
  ASSERT_EQ(device.run("kernel", shape, out).fault, FaultKind::kNone);
  for (U32 i = 0; i < 12; ++i) {
    EXPECT_EQ(out[1 + i], i);
  }
}

/// Every block waits until all of them are there.
const char* const kMeeting = R"(
  mov.u64 %rd0, count;
  mov.u32 %r5, %tid.x;
  setp.ne.u32 %p0, %r5, 0;
  @%p0 bra WAIT;
  red.global.add.u32 [%rd0], 1;
  WAIT:
  ld.volatile.global.u32 %r6, [%rd0];
  mov.u32 %r7, %nctaid.x;
  setp.lt.u32 %p1, %r6, %r7;
  @%p1 bra WAIT;
  st.global.u32 [%out], %r6;)";

TEST_F(Launches, BlocksThatWaitForEachOtherGetOn) {
  for (const bool cooperative : {true, false}) {
    for (const unsigned workers : {1u, 2u}) {
      Shape shape;
      shape.grid.x = cooperative ? 20 : 4;
      shape.block.x = 64;
      shape.workers = workers;
      shape.cooperative = cooperative;
      const auto words =
          words_of(kMeeting, shape, ".global .align 4 .b32 count;\n");
      EXPECT_EQ(
          std::count(words.begin(), words.end(), shape.grid.x),
          static_cast<std::ptrdiff_t>(words.size()));
    }
  }
}

TEST_F(Launches, AtomicsOfLaunchesAtTheSameTimeMissNothing) {
  // Each on one host thread, as streams run them with CUDASIM_WORKERS=1.
  constexpr U32 kThreads = 64;
  constexpr U32 kRounds = 2000;
  struct Sums {
    U32 plain;
    float real;
    std::uint64_t wide;
    U32 generic;
  };
  auto* sums = device.zeros<Sums>(1);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .reg .b64 %p; .reg .b32 %i; .reg .pred %more;
    ld.param.u64 %p, [out];
    mov.u32 %i, 0;
    LOOP:
    red.global.add.u32 [%p], 1;
    red.global.add.f32 [%p+4], 0f3F800000;
    red.global.add.u64 [%p+8], 1;
    red.add.u32 [%p+16], 1;
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, 2000;
    @%more bra LOOP;
    ret; })");
  ASSERT_NE(device.module().kernel("kernel"), nullptr);
  std::atomic<int> there{0};
  const auto launch = [&] {
    Shape shape;
    shape.block.x = kThreads;
    ++there;
    while (there < 2) {
    }
    EXPECT_EQ(device.run("kernel", shape, sums).fault, FaultKind::kNone);
  };
  std::thread other(launch);
  launch();
  other.join();
  constexpr U32 kAll = 2 * kThreads * kRounds;
  EXPECT_EQ(sums->plain, kAll);
  EXPECT_EQ(sums->real, static_cast<float>(kAll));
  EXPECT_EQ(sums->wide, kAll);
  EXPECT_EQ(sums->generic, kAll);
}

TEST_F(Launches, TheHostsFloatingPointEnvironmentIsTheHosts) {
  // Flush denormals, take them for zeros, round up: for this thread, and for
  // the workers that are made meanwhile.
  constexpr unsigned kFlushing = 0x8040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushing);
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const unsigned own = _mm_getcsr();
  Shape shape;
  shape.grid.x = 64;
  shape.workers = 3;
  const auto words = words_of(
      R"(
    .reg .f32 %f<4>;
    mov.f32 %f0, 0f00400000;
    mov.f32 %f1, 0f3F800000;
    mul.rn.f32 %f2, %f0, %f1;
    mov.b32 %r5, %f2;
    mov.f32 %f2, 0f30000000;
    add.rn.f32 %f3, %f1, %f2;
    mov.b32 %r6, %f3;
    add.u32 %r5, %r5, %r6;
    st.global.u32 [%out], %r5;)",
      shape);
  const unsigned after = _mm_getcsr();
  const int rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  _mm_setcsr(before);
  constexpr unsigned kExceptions = 0x3f;
  EXPECT_EQ(after & ~kExceptions, own & ~kExceptions);
  EXPECT_EQ(rounding, FE_UPWARD);
  EXPECT_EQ(
      std::count(words.begin(), words.end(), 0x00400000u + 0x3f800000u),
      static_cast<std::ptrdiff_t>(words.size()));
}

TEST_F(Launches, InstructionsAreCounted) {
  auto* out = device.zeros<U32>(1);
  device.load(R"(.visible .entry kernel(.param .u64 out) {
    .reg .b32 %x; .reg .pred %p;
    mov.u32 %x, %tid.x;
    setp.lt.u32 %p, %x, 8;
    add.u32 %x, %x, 1;
    add.u32 %x, %x, 1;
    ret; })");
  Shape shape;
  shape.grid.x = 3;
  shape.block.x = 48;
  const Outcome ended = device.run("kernel", shape, out);
  EXPECT_EQ(ended.warp_instructions, 3u * 2 * 5);
  EXPECT_EQ(ended.thread_instructions, 3u * 48 * 5);
}

TEST_F(Launches, ABadModuleSaysWhatIsWrong) {
  EXPECT_THROW(device.load(".visible .entry kernel( {"), std::runtime_error);
  try {
    device.load(
        ".visible .entry kernel() { .reg .b32 %x; mov.u32 %x, missing; ret; }");
    FAIL() << "a symbol that is not declared was accepted";
  } catch (const ptx::ParseError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("test.ptx:4:54: found 'missing'"), std::string::npos)
        << text;
  }
}

} // namespace
} // namespace cudasim::engine::testing
