// Arithmetic of floats as native code.
#include <cstdint>
#include <string>

#include "cudasim/engine/testing/native_rows.h"

namespace cudasim::engine::testing {
namespace {

TEST_F(NativeRows, Floats) {
  const auto both = [this](const std::string& op, const std::string& rest) {
    const bool two = rest == "2";
    const bool three = rest == "3";
    compare_guarded(
        op + ".f32 %h, %e" + (two || three ? ", %f" : "") +
        (three ? ", %g;" : ";"));
    compare(
        op + ".f64 %d, %a" + (two || three ? ", %b" : "") +
        (three ? ", %c;" : ";"));
  };
  for (const char* op :
       {"add", "sub", "mul", "add.rn", "div.rn", "min", "max"}) {
    both(op, "2");
  }
  both("fma.rn", "3");
  for (const char* op : {"neg", "abs", "sqrt.rn", "rcp.rn"}) {
    both(op, "1");
  }
  // Of numbers that are known.
  compare(
      "mov.b32 %h, 0f7F800000;\nmov.b32 %z, 0fFF800000;\n"
      "add.f32 %h, %h, %z;");
  compare("mov.b64 %d, 0d0000000000000000;\ndiv.rn.f64 %d, %d, %d;");
  compare("sqrt.rn.f32 %h, 0fBF800000;");
  compare("add.ftz.f32 %h, %e, %f;");
  compare("mul.rz.f32 %h, %e, %f;");
  compare("add.sat.f32 %h, %e, %f;");
  for (const std::string op : {"rcp", "sqrt", "rsqrt"}) {
    compare_guarded(op + ".approx.f32 %h, %e;");
    compare(op + ".approx.ftz.f32 %h, %e;");
  }
  compare("rsqrt.approx.f64 %d, %a;");
  compare_guarded("div.full.f32 %h, %e, %f;");
  compare("div.approx.f32 %h, %n, %e;");
  compare("div.approx.ftz.f32 %h, %e, %f;");
  compare("fma.rn.f32 %h, %e, 0f40000000, %n;");
}

/// Makes of %e, %f and %g floats in %x, %y and %z: of some exponents alone,
/// from those of `least` on.
std::string floats_from(const std::string& least, const std::string& mask) {
  std::string text = ".reg .b32 %x, %y, %z;\n";
  for (const char* const pair : {"xe", "yf", "zg"}) {
    const std::string to = std::string("%") + pair[0];
    text += "and.b32 " + to + ", %" + pair[1] + ", " + mask + ";\nadd.u32 " +
        to + ", " + to + ", " + least + ";\n";
  }
  return text;
}

/// Of all exponents, of those of usual numbers, and of the smallest ones.
const std::string kFloats[] = {
    floats_from("0", "0xffffffff"),
    floats_from("0x3c000000", "0x83ffffff"),
    floats_from("0", "0x80ffffff")};

TEST_F(NativeRows, ModifiersOfFloats) {
  for (const std::string& floats : kFloats) {
    for (const std::string end : {".ftz.f32", ".sat.f32", ".ftz.sat.f32"}) {
      for (const std::string op : {"add", "sub", "mul.rn"}) {
        compare_native(floats + op + end + " %h, %x, %y;");
      }
      compare_native(floats + "fma.rn" + end + " %h, %x, %y, %z;");
    }
    for (const std::string op : {"min", "max", "div.rn", "div.full"}) {
      compare_native(floats + op + ".ftz.f32 %h, %x, %y;");
      compare_native(floats + op + ".f32 %h, %x, %n;");
    }
    for (const std::string op : {"min", "max"}) {
      for (const std::string end : {".f32", ".ftz.f32"}) {
        compare_native(floats + op + end + " %h, %x, %y, %z;");
        compare_native(floats + op + end + " %h, %n, %x, %n;");
        compare_native(floats + op + ".NaN" + end + " %h, %x, %y, %z;");
        compare_native(floats + op + ".NaN" + end + " %h, %x, %y;");
        compare_native(floats + op + ".NaN" + end + " %h, %n, %z;");
        compare(floats + op + ".abs" + end + " %h, %x, %y, %z;");
      }
    }
    for (const std::string op : {"rcp.rn", "sqrt.rn"}) {
      compare_native(floats + op + ".ftz.f32 %h, %x;");
    }
    compare_native(floats + "cvt.sat.f32.f32 %h, %x;");
    compare(floats + "cvt.ftz.sat.f32.f32 %h, %x;");
    compare_native(floats + "add.sat.f32 %h, %n, %n;");
  }
  compare_guarded("cvt.sat.f32.f32 %h, %e;");
  compare_native("cvt.sat.f64.f64 %d, %a;");
}

TEST_F(NativeRows, PowersOfTwo) {
  for (const std::string& floats : kFloats) {
    compare_native(floats + "ex2.approx.f32 %h, %x;");
    compare_native(floats + "ex2.approx.ftz.f32 %h, %x;");
  }
  for (const std::string number :
       {"0f43010000", "0f43020000", "0fC3160000", "0fC3200000", "0fC3210000"}) {
    compare("ex2.approx.f32 %h, " + number + ";");
    compare(
        "cvt.rn.f32.u32 %z, %t;\nadd.f32 %z, %z, " + number +
        ";\nex2.approx.f32 %h, %z;");
  }
  compare_guarded("ex2.approx.f32 %h, %e;");
  compare("cvt.rn.f32.u32 %z, %n;\nex2.approx.ftz.f32 %h, %z;");
}

TEST_F(NativeRows, DirectedRounding) {
  for (const std::string& floats : kFloats) {
    for (const std::string way : {".rz", ".rm", ".rp"}) {
      for (const std::string op : {"add", "sub", "mul"}) {
        compare_native(floats + op + way + ".f32 %h, %x, %y;");
      }
      compare_native(floats + "fma" + way + ".f32 %h, %x, %y, %z;");
      compare_native(
          floats + "mad" + way + ".f32 %h, %x, 0f437C0000, 0f4B400001;");
      compare(floats + "fma" + way + ".ftz.f32 %h, %x, %y, %z;");
      compare(floats + "div" + way + ".f32 %h, %x, %y;");
    }
  }
  compare_guarded("fma.rm.f32 %h, %e, %f, %g;");
  compare("cvt.rn.f32.u32 %z, %n;\nfma.rm.f32 %h, %z, 0f3EAAAAAB, %z;");
  // What is behind it is rounded to nearest again.
  compare(
      "fma.rp.f32 %z, %e, %f, %g;\nmul.f32 %h, %z, 0f3EAAAAAB;\n"
      "add.f32 %h, %h, %e;");
}

/// What all lanes have alike, at the edges; no compiler knows it.
TEST_F(NativeRows, FloatsThatAreAlike) {
  for (const std::uint32_t bits :
       {0x00000000u,
        0x80000000u,
        0x80000001u,
        0x007fffffu,
        0x80800000u,
        0x3f7fffffu,
        0x3f800001u,
        0xbf800000u,
        0x7f7fffffu,
        0x7f800000u,
        0xff800000u,
        0xffc00000u}) {
    const std::string x =
        ".reg .b32 %x;\nxor.b32 %x, %n, " + std::to_string(bits ^ 5u) + ";\n";
    for (const std::string end : {".f32", ".ftz.f32", ".ftz.sat.f32"}) {
      compare_native(x + "add" + end + " %h, %x, %n;");
      compare_native(x + "fma.rn" + end + " %h, %x, %x, %n;");
      compare_native(x + "mul" + end + " %h, %e, %x;");
    }
    for (const std::string end : {".f32", ".ftz.f32"}) {
      for (const std::string op : {"min", "max", "div.approx"}) {
        compare_native(x + op + end + " %h, %x, %n;");
        compare_native(x + op + end + " %h, %x, %e;");
      }
      for (const std::string op :
           {"rcp.approx", "sqrt.approx", "rsqrt.approx", "ex2.approx"}) {
        compare_native(x + op + end + " %h, %x;");
      }
    }
    compare_native(x + "cvt.sat.f32.f32 %h, %x;");
    compare_native(x + "cvt.f64.f32 %d, %x;\ncvt.sat.f64.f64 %d, %d;");
    for (const std::string way : {".rz", ".rm", ".rp"}) {
      compare_native(x + "fma" + way + ".f32 %h, %x, 0f3EAAAAAB, %e;");
    }
  }
}

/// Rounded arithmetic and scattered accesses, which share a place in memory,
/// where lanes part, and in a loop that they leave one by one.
TEST_F(NativeRows, FloatsWhereLanesPart) {
  const std::string place =
      ".reg .b32 %w;\nmov.u32 %w, tile;\nmul.lo.u32 %z, %e, 37;\n"
      "and.b32 %z, %z, 63;\nshl.b32 %z, %z, 4;\nadd.u32 %w, %w, %z;\n"
      "st.shared.u32 [%w], 5;\n";
  for (const std::string p : {"%p", "%q", "!%p"}) {
    compare_alone(
        place + "@" + p +
        " bra ONE;\nfma.rz.f32 %h, %e, %f, %g;\n"
        "ld.shared.v2.u32 {%z, %k}, [%w];\nadd.rp.f32 %h, %h, %z;\n"
        "mul.rm.f32 %z, %e, %h;\nst.shared.u32 [%w], %z;\n"
        "min.ftz.f32 %h, %h, %z;\nbra TWO;\nONE:\nex2.approx.ftz.f32 %h, %e;\n"
        "rem.s32 %z, %e, 7;\nadd.u32 %h, %h, %z;\nTWO:\n"
        "add.ftz.sat.f32 %h, %h, %e;\nld.shared.u64 %d, [%w];");
    compare_alone(
        ".reg .b32 %w;\nand.b32 %w, %t, 7;\nAGAIN:\n"
        "fma.rp.f32 %h, %h, 0f3F7FFFF0, 0f3EAAAAAB;\ndiv.u32 %z, %e, 3;\n"
        "rem.u32 %k, %e, %n;\nadd.u32 %h, %h, %z;\nadd.u32 %h, %h, %k;\n"
        "sub.u32 %w, %w, 1;\nsetp.gt.s32 %r, %w, 0;\n@%r bra AGAIN;\n"
        "setp.lt.s32 %r, %h, 0;");
  }
}

} // namespace
} // namespace cudasim::engine::testing
