// Accesses to memory, branches and collectives as native code.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/native_rows.h"

namespace cudasim::engine::testing {
namespace {

TEST_F(NativeRows, LoadsAndStores) {
  // Lane after lane, the same for all, apart, and beyond a word.
  for (const std::string type : {"u8", "s8", "u16", "s16", "b32", "f32"}) {
    compare_guarded("ld.global." + type + " %h, [%in+8];");
    compare("ld.global.nc." + type + " %h, [%in+16];");
  }
  compare("ld.param.u64 %y, [in];\nld.global.b32 %h, [%y+12];");
  compare("ld.param.u64 %y, [in];\n@%p ld.global.b32 %h, [%y+12];");
  compare(
      "mul.wide.u32 %x, %t, 4;\nsub.u64 %y, %in, %x;\n"
      "ld.global.b32 %h, [%y+4];");
  compare(
      "mul.wide.u32 %x, %t, 8;\nadd.u64 %y, %in, %x;\n"
      "ld.global.v4.b32 {%h, %z, %e, %f}, [%y];\n"
      "add.s32 %h, %h, %z;\nadd.s32 %h, %h, %e;\nadd.s32 %h, %h, %f;");
  compare(
      "ld.global.v2.b32 {%h, %z}, [%in];\n"
      "st.global.v2.b32 [%in], {%z, %h};\nld.global.b64 %d, [%in];");
  compare_guarded("st.global.b64 [%in], %b;");
  compare("ld.global.b64 %d, [%in];");
  for (const std::string stride : {"4", "8", "12"}) {
    compare(
        "mov.u32 %z, tile;\nmad.lo.u32 %z, %t, " + stride +
        ", %z;\nst.shared.b32 [%z], %e;\nbar.sync 0;\n"
        "ld.shared.b32 %h, [%z];");
  }
  compare(
      "mov.u32 %z, tile;\nmad.lo.u32 %z, %t, 8, %z;\n"
      "st.shared.v2.b32 [%z], {%e, %f};\nbar.sync 0;\n"
      "ld.shared.v2.b32 {%h, %k}, [%z];\nxor.b32 %h, %h, %k;");
  compare("ld.volatile.global.b32 %h, [%in];");
  compare("atom.global.add.u32 %h, [%in], 3;");
}

/// Lanes that lie anywhere, some at the same place, and far apart.
TEST_F(NativeRows, LoadsOfScatteredLanes) {
  const std::string fill =
      ".reg .b32 %i, %j, %l;\n.reg .b64 %w;\nmov.u32 %k, tile;\n"
      "mad.lo.u32 %z, %t, 16, %k;\n"
      "st.shared.v4.b32 [%z], {%e, %f, %g, %t};\nbar.sync 0;\n";
  const std::string ways[] = {
      "and.b32 %z, %e, 63;\nmad.lo.u32 %z, %z, 16, %k;\n",
      "and.b32 %z, %t, 7;\nmad.lo.u32 %z, %z, 16, %k;\n",
      "shr.u32 %z, %t, 3;\nmad.lo.u32 %z, %z, 32, %k;\n",
      "sub.u32 %z, 63, %t;\nmad.lo.u32 %z, %z, 16, %k;\n"};
  const char* const sums[] = {
      "v4.b32 {%h, %i, %j, %l}, [%z];\nmad.lo.u32 %h, %i, 3, %h;\n"
      "mad.lo.u32 %h, %j, 5, %h;\nmad.lo.u32 %h, %l, 7, %h;",
      "v2.b32 {%h, %i}, [%z+8];\nmad.lo.u32 %h, %i, 3, %h;",
      "v2.b64 {%d, %w}, [%z];\nmad.lo.u64 %d, %w, 3, %d;",
      "v2.u8 {%h, %i}, [%z+6];\nmad.lo.u32 %h, %i, 300, %h;",
      "v4.s16 {%h, %i, %j, %l}, [%z];\nmad.lo.u32 %h, %i, 3, %h;\n"
      "mad.lo.u32 %h, %j, 5, %h;\nmad.lo.u32 %h, %l, 7, %h;",
      "b32 %h, [%z+4];",
      "b64 %d, [%z+8];",
      "s16 %h, [%z+2];",
      "u8 %h, [%z+13];"};
  for (const std::string& way : ways) {
    std::vector<std::string> codes;
    for (const std::string sum : sums) {
      codes.push_back("bar.sync 0;\n" + fill + way + "ld.shared." + sum);
    }
    compare_together(codes);
  }
  for (const std::string guard : {"@%p ", "@!%q "}) {
    std::vector<std::string> codes;
    for (const std::string sum : sums) {
      codes.push_back(
          "bar.sync 0;\n" + fill + ways[0] +
          "mov.u32 %i, 1;\nmov.u32 %j, 2;\nmov.u32 %l, 3;\nmov.u64 %w, 4;\n" +
          guard + "ld.shared." + sum);
    }
    compare_together(codes);
  }
  compare_alone(
      fill + ways[0] +
      "mov.u32 %i, 1;\n@%p bra PAST;\nld.shared.v2.b32 {%h, %i}, [%z];\n"
      "PAST:\nmad.lo.u32 %h, %i, 3, %h;");
  // Two rows of lanes, each in one piece or at one place, which is seen behind
  // a barrier that gives lanes a value.
  for (const std::string row :
       {"shr.u32 %z, %t, 4;\nmad.lo.u32 %z, %z, 32, %k;\n",
        "shr.u32 %z, %t, 4;\nmad.lo.u32 %z, %z, -32, %k;\n"
        "add.u32 %z, %z, 256;\n",
        "mov.u32 %z, %k;\n"}) {
    const int bytes[] = {16, 8, 16, 2, 8, 4, 8, 2, 1};
    for (std::size_t i = 0; i < std::size(sums); ++i) {
      for (const int stride : {0, bytes[i]}) {
        compare_alone(
            fill + ".reg .pred %o;\n" + row +
            "and.b32 %i, %t, 15;\nmad.lo.u32 %z, %i, " +
            std::to_string(stride) +
            ", %z;\nbar.red.or.pred %o, 0, %p;\nld.shared." + sums[i]);
      }
    }
  }
  // Global memory: its first 1,024 bytes.
  const std::string place =
      ".reg .b32 %i, %j, %l;\nld.param.u64 %y, [in];\nand.b32 %z, %e, 63;\n"
      "mul.wide.u32 %x, %z, 16;\nadd.u64 %y, %y, %x;\n";
  compare_alone(
      place +
      "ld.global.v4.b32 {%h, %i, %j, %l}, [%y];\nmad.lo.u32 %h, %i, 3, %h;\n"
      "mad.lo.u32 %h, %j, 5, %h;\nmad.lo.u32 %h, %l, 7, %h;");
  compare_alone(place + "ld.global.nc.b64 %d, [%y+8];");
  compare_alone(place + "ld.b32 %h, [%y+4];");
  compare_alone(
      "ld.param.u64 %y, [in];\nmul.wide.u32 %x, %t, 24;\n"
      "add.u64 %y, %y, %x;\nld.global.b32 %h, [%y];");
}

TEST_F(NativeRows, StoresToOnePlace) {
  // The last of the lanes that store is what stays. A place for each warp.
  const std::string place =
      "shr.u32 %z, %t, 5;\nshl.b32 %z, %z, 4;\nmov.u32 %k, tile;\n"
      "add.u32 %z, %z, %k;\nst.shared.b64 [%z], 99;\n";
  const std::string read = "\nbar.sync 0;\nld.shared.b64 %d, [%z];";
  for (const std::string guard : {"", "@%p ", "@!%p ", "@%q "}) {
    for (const std::string access :
         {"b32 [%z], %e",
          "b32 [%z+4], %n",
          "b64 [%z], %a",
          "b16 [%z+2], %s",
          "u8 [%z+3], %e",
          "v2.b32 [%z], {%e, %f}",
          "v2.b32 [%z], {%n, %f}"}) {
      compare(place + guard + "st.shared." + access + ";" + read);
    }
  }
  compare(place + "@%p bra PAST;\nst.shared.b32 [%z], %f;\nPAST:" + read);
  // Lanes of their own, some of which are the same.
  compare(
      place +
      "and.b32 %k, %e, 7;\nadd.u32 %k, %k, %z;\n"
      "st.shared.u8 [%k], %f;" +
      read);
}

TEST_F(NativeRows, KnownNumbers) {
  // As nvcc computes the bounds of a shuffle.
  compare(
      "mov.u32 %k, WARP_SZ;\nshl.b32 %k, %k, 8;\nsub.s32 %k, 8223, %k;\n"
      "shfl.sync.down.b32 %h, %e, 4, %k, -1;");
  compare(
      "mov.u32 %k, 5;\nmul.lo.s32 %k, %k, -3;\nand.b32 %k, %k, 0xff;\n"
      "or.b32 %k, %k, 2;\nadd.s32 %k, %k, -240;\nmov.u32 %z, %k;\n"
      "shl.b32 %z, %z, 40;\nadd.s32 %h, %k, %z;\nshl.b32 %h, %e, %h;");
  compare("mov.b32 %k, 0f3F800000;\nadd.f32 %h, %k, 0f40000000;");
  compare("mov.b64 %x, 0d3FF0000000000000;\nsub.f64 %d, %x, %x;");
  compare(
      "mov.u64 %x, 5;\nshl.b64 %x, %x, 62;\nmul.lo.s64 %x, %x, 3;\n"
      "add.s64 %d, %x, %a;");
}

TEST_F(NativeRows, ControlFlow) {
  // Loops of the same length for all lanes, and of their own.
  compare(R"(
    mov.u32 %k, 0;
    LOOP:
    mad.lo.u32 %h, %h, 3, %k;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %n;
    @%p bra LOOP;)");
  compare(R"(
    and.b32 %z, %e, 15;
    mov.u32 %k, 0;
    LOOP:
    mad.lo.u32 %h, %h, 3, %k;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %z;
    @%p bra LOOP;
    add.u32 %h, %h, %k;)");
  compare(R"(
    @%p bra THEN;
    add.s32 %h, %e, %f;
    bra MET;
    THEN:
    mul.lo.s32 %h, %e, %f;
    MET:
    add.s32 %h, %h, 1;)");
  compare(R"(
    setp.eq.u32 %p, %n, 5;
    @!%p bra ELSE;
    add.s32 %h, %e, %f;
    bra MET;
    ELSE:
    mov.u32 %h, %t;
    MET:
    add.s32 %h, %h, 1;)");
  // A register that is the same for all on one way, and not on the other.
  compare(R"(
    mov.u32 %h, %n;
    mov.u32 %k, 0;
    LOOP:
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 3;
    @!%p bra OUT;
    add.u32 %h, %h, %e;
    bra LOOP;
    OUT:)");
}

TEST_F(NativeRows, Collectives) {
  for (const std::string bounds : {"31", "0", "0x1c1f", "0x1807", "0x10ff"}) {
    for (const std::string form : {"up", "down", "bfly", "idx"}) {
      for (const std::string amount :
           {"1", "5", "16", "40", "%n", "%f", "%t"}) {
        compare(
            "shfl.sync." + form + ".b32 %h|%r, %e, " + amount + ", " + bounds +
            ", -1;");
      }
      compare(
          "shfl.sync." + form + ".b32 %h|%r, %n, %f, " + bounds +
          ", -1;\nshfl.sync." + form + ".b32 %z, %t, %h, " + bounds +
          ", -1;\nselp.b32 %z, %z, %e, %r;\nadd.u32 %h, %h, %z;");
      compare(
          "shfl.sync." + form + ".b32 %h, %t, 3, " + bounds +
          ", -1;\nshfl.sync." + form + ".b32 %z, %n, 3, " + bounds +
          ", 0xffffffff;\nadd.u32 %h, %h, %z;");
    }
  }
  for (const std::string form : {"all", "any", "uni"}) {
    compare("vote.sync." + form + ".pred %r, %p, -1;");
    compare("vote.sync." + form + ".pred %r, !%q, -1;");
    compare("setp.eq.u32 %q, %n, 5;\nvote.sync." + form + ".pred %r, %q, -1;");
  }
  compare("vote.sync.ballot.b32 %h, %p, -1;");
  compare("vote.sync.ballot.b32 %h, !%q, -1;");
  compare("setp.eq.u32 %q, %n, 5;\nvote.sync.ballot.b32 %h, %q, -1;");
  compare("bar.warp.sync -1;\nadd.u32 %h, %e, 1;");
}

/// Blocks of 16 threads in x: a warp has two rows of lanes.
TEST(NativeRowsOf16, AreTheSame) {
  const auto input = inputs(6);
  for (const char* const stride : {"0", "4", "8"}) {
    for (const char* const row : {"0", "4", "60", "64", "68", "160", "-64"}) {
      // Words of the input and of shared memory by x and y; what is read, and
      // what the affine registers themselves hold.
      const std::string text = std::string(R"(
.visible .entry kernel(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .b64 %out, %in, %w, %v;
  .reg .b32 %x, %y, %i, %a, %b, %c, %d, %s;
  .reg .f32 %f;
  .reg .pred %p;
  .shared .align 8 .b8 tile[2048];
  ld.param.u64 %out, [out];
  ld.param.u64 %in, [in];
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mad.lo.u32 %i, %y, 16, %x;
  mul.wide.u32 %w, %i, 4;
  add.u64 %w, %w, %in;
  ld.global.b32 %a, [%w];
  mov.u32 %s, tile;
  mad.lo.u32 %b, %i, 4, %s;
  st.shared.b32 [%b], %a;
  st.shared.b32 [%b+1024], %a;
  bar.sync 0;
  mul.lo.s32 %c, %x, )") +
          stride + ";\nmad.lo.s32 %c, %y, " + row + R"(, %c;
  add.s32 %c, %c, 256;
  cvt.s64.s32 %w, %c;
  add.s64 %w, %w, %in;
  ld.global.b32 %a, [%w];
  add.s32 %d, %s, %c;
  ld.shared.b32 %b, [%d];
  ld.shared.u8 %i, [%d+4];
  xor.b32 %a, %a, %b;
  xor.b32 %a, %a, %i;
  bar.sync 0;
  st.shared.b32 [%d], %y;
  bar.sync 0;
  ld.shared.b32 %b, [%d];
  mad.lo.u32 %a, %b, 7, %a;
  mov.u32 %i, 0;
  LOOP:
  shl.b32 %b, %c, 1;
  sub.s32 %b, %b, %y;
  cvt.rn.f32.s32 %f, %b;
  mov.b32 %d, %f;
  xor.b32 %a, %a, %d;
  shr.s32 %d, %c, 3;
  and.b32 %b, %c, 31;
  add.s32 %d, %d, %b;
  add.s32 %a, %a, %d;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 3;
  @%p bra LOOP;
  mul.wide.s32 %v, %c, -3;
  cvt.u64.u32 %w, %a;
  shl.b64 %w, %w, 32;
  add.s64 %v, %v, %w;
  mad.lo.u32 %i, %y, 16, %x;
  mul.wide.u32 %w, %i, 8;
  add.u64 %w, %w, %out;
  st.global.u64 [%w], %v;
  ret;
}
)";
      const std::uint64_t before = native_regions();
      const Result plain = run(NativeMode::kOff, text, input, 1, kRowLanes);
      const Result native = run(NativeMode::kAlways, text, input, 1, kRowLanes);
      EXPECT_GT(native_regions(), before);
      ASSERT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
      ASSERT_EQ(native.outcome.fault, FaultKind::kNone)
          << native.outcome.report;
      EXPECT_EQ(plain.words, native.words) << stride << " and " << row;
      EXPECT_EQ(
          plain.outcome.thread_instructions,
          native.outcome.thread_instructions);
    }
  }
}

/// Stores of lanes that lie anywhere: the last of those at one place counts.
TEST(NativeScatteredStores, AreTheSame) {
  const auto input = inputs(7);
  for (const std::string access :
       {"v4.b32 [%y], {%e, %f, %g, %t}",
        "v2.b32 [%y+8], {%e, %t}",
        "v2.b64 [%y], {%a, %b}",
        "v4.b16 [%y], {%s, %u, %u, %s}",
        "v2.u8 [%y+2], {%e, %t}",
        "b64 [%y+8], %a",
        "b32 [%y+4], %t",
        "b16 [%y+2], %s",
        "u8 [%y+5], %t"}) {
    for (const std::string guard : {"", "@%p ", "@!%q "}) {
      for (const std::string way :
           {"and.b32 %z, %e, 31;\nmul.lo.u32 %z, %z, 16;\n",
            "and.b32 %z, %t, 3;\nmul.lo.u32 %z, %z, 32;\n",
            "and.b32 %z, %t, 31;\nmul.lo.u32 %z, %z, 16;\n",
            "and.b32 %z, %t, 31;\nsub.u32 %z, 31, %z;\nshl.b32 %z, %z, 4;\n"}) {
        // 512 bytes for each warp, of both kinds of memory.
        const std::string store = "." + access + ";\n";
        std::string shared = guard + "st.shared" + store;
        shared.replace(shared.find("%y"), 2, "%k");
        const std::string text = kBegin + reset() + way + R"(
  shr.u32 %k, %t, 5;
  mad.lo.u32 %z, %k, 512, %z;
  mov.u32 %k, tile;
  add.u32 %k, %k, %z;
  ld.param.u64 %out, [out];
  cvt.u64.u32 %x, %z;
  add.u64 %y, %out, %x;
)" + guard + "st.global" +
            store + shared + R"(
  bar.sync 0;
  mul.lo.u32 %z, %t, 16;
  mov.u32 %k, tile;
  add.u32 %k, %k, %z;
  cvt.u64.u32 %x, %z;
  add.u64 %y, %out, %x;
  ld.shared.v2.b64 {%a, %b}, [%k];
  st.global.v2.b64 [%y+1024], {%a, %b};
)" + kEnd;
        const Result plain = run(NativeMode::kOff, text, input, 4);
        const Result native = run(NativeMode::kAlways, text, input, 4);
        ASSERT_EQ(plain.outcome.fault, FaultKind::kNone)
            << plain.outcome.report;
        EXPECT_EQ(plain.words, native.words) << way << guard << access;
        EXPECT_EQ(
            plain.outcome.thread_instructions,
            native.outcome.thread_instructions);
      }
    }
  }
}

/// What a kernel that faults in the middle of a region says.
TEST(NativeFaults, AreReportedAlike) {
  const auto input = inputs(3);
  for (const std::string access :
       {"ld.global.u64 %d, [%in];\nadd.u64 %in, %in, 4096;\n"
        "ld.global.u64 %d, [%in];\n",
        "mov.u64 %x, 4096;\nst.global.u32 [%x], %e;\n",
        "mov.u64 %x, 4096;\n@%q st.global.u32 [%x], %e;\n",
        "mov.u32 %z, 1024;\nst.shared.u32 [%z], %e;\n",
        "mov.u32 %z, tile;\nst.shared.u32 [%z+2], %e;\n",
        "mul.lo.u32 %z, %t, %t;\nld.shared.u32 %h, [%z];\n",
        "mul.lo.u32 %z, %t, %t;\nshl.b32 %z, %z, 3;\n"
        "ld.shared.v2.b32 {%h, %k}, [%z];\n",
        "mul.lo.u32 %z, %t, -16;\nst.shared.v2.b32 [%z], {%e, %f};\n",
        "shl.b32 %z, %t, 3;\nxor.b32 %z, %z, 24;\nld.shared.u32 %h, [%z+-8];\n",
        "shl.b32 %z, %t, 3;\nxor.b32 %z, %z, 25;\nld.shared.u16 %h, [%z];\n",
        "shl.b32 %z, %t, 3;\nxor.b32 %z, %z, 24;\nselp.b32 %z, -4, %z, %q;\n"
        "st.shared.b32 [%z], %e;\n",
        "mul.wide.u32 %x, %t, 8;\nxor.b64 %x, %x, 4294967320;\n"
        "ld.shared.u32 %h, [%x];\n",
        "mul.wide.u32 %x, %t, 8;\nxor.b64 %x, %x, 0x8000000000000018;\n"
        "st.shared.u64 [%x], %x;\n",
        "mul.wide.u32 %x, %t, 8;\nxor.b64 %x, %x, 24;\n"
        "add.u64 %in, %in, %x;\nadd.u64 %x, %in, 65536;\n"
        "selp.b64 %in, %x, %in, %q;\nld.global.b32 %h, [%in];\n",
        "mul.wide.u32 %x, %t, 1000;\nadd.u64 %in, %in, %x;\n"
        "ld.global.v2.b64 {%a, %b}, [%in];\n",
        "mul.wide.u32 %x, %t, 1048576;\nsub.u64 %in, %in, %x;\n"
        "st.global.b32 [%in], %t;\n"}) {
    const std::string text =
        kBegin + "setp.gt.u32 %q, %t, 40;\n" + access + kEnd;
    const Result plain = run(NativeMode::kOff, text, input, 1);
    const Result native = run(NativeMode::kAlways, text, input, 1);
    EXPECT_NE(plain.outcome.fault, FaultKind::kNone) << access;
    EXPECT_EQ(native.outcome.fault, plain.outcome.fault) << access;
    const auto first_line = [](const std::string& report) {
      return report.substr(0, report.find("0x"));
    };
    EXPECT_EQ(
        first_line(native.outcome.report), first_line(plain.outcome.report));
  }
}

/// Native code has no form for them: they are read and written whole.
TEST_F(NativeRows, VectorsOf32Bytes) {
  const std::string place = "and.b64 %x, %in, -32;\n";
  compare(
      ".reg .b64 %w<4>;\n" + place +
      "ld.global.v4.b64 {%w0, %w1, %w2, %w3}, [%x];\nxor.b64 %d, %w0, %w1;\n"
      "mad.lo.u64 %d, %d, 3, %w2;\nxor.b64 %d, %d, %w3;");
  compare(
      ".reg .b32 %w<8>;\n" + place +
      "ld.global.nc.v8.u32 {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, [%x+32];\n"
      "xor.b32 %h, %w0, %w1;\nmad.lo.u32 %h, %h, 3, %w2;\n"
      "xor.b32 %h, %h, %w3;\nmad.lo.u32 %h, %h, 5, %w4;\n"
      "xor.b32 %h, %h, %w5;\nmad.lo.u32 %h, %h, 7, %w6;\n"
      "xor.b32 %h, %h, %w7;");
}

} // namespace
} // namespace cudasim::engine::testing
