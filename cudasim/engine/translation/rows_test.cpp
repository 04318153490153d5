// Arithmetic, comparisons and conversions as native code.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/testing/native_rows.h"
#include "cudasim/engine/testing/row_writer.h"

namespace cudasim::engine::testing {
namespace {

/// An instruction of a row of values, on the registers of a kernel; empty for
/// rows with other operands and without a handler. Results are in %d, %h, %v
/// and %r.
std::string code_of(const KeyedRow& row) {
  // Sources and results by bytes; predicates have none.
  const std::map<std::size_t, std::vector<std::string>> kSources = {
      {0, {"%p", "%q"}},
      {2, {"%s", "%u"}},
      {4, {"%e", "%f", "%g", "%t"}},
      {8, {"%a", "%b", "%c"}}};
  const std::map<std::size_t, std::vector<std::string>> kResults = {
      {0, {"%r"}},
      {2, {"%v", "%w"}},
      {4, {"%h", "%z", "%k", "%y"}},
      {8, {"%d", "%x"}}};
  std::map<std::size_t, std::size_t> sources;
  std::map<std::size_t, std::size_t> results;
  if (row.row.entry->handler == nullptr) {
    return "";
  }
  std::string text;
  for (const OperandShape& shape : row.row.shape.operands) {
    const std::size_t bytes = ptx::size_of(shape.type);
    if (shape.kind != OperandShape::Kind::kValue || shape.members ||
        shape.needs_pair || kSources.count(bytes) == 0) {
      return "";
    }
    std::string values;
    for (std::uint32_t i = 0; i < std::max(shape.vector, 1u); ++i) {
      const auto& names = (shape.written ? kResults : kSources).at(bytes);
      std::size_t& next = (shape.written ? results : sources)[bytes];
      if (shape.written && next == names.size()) {
        return "";
      }
      values += values.empty() ? "" : ", ";
      values += shape.constant
          ? std::to_string(
                shape.choices.empty() ? shape.low + 1 : shape.choices[0])
          : names[next % names.size()];
      ++next;
    }
    text += text.empty() ? " " : ", ";
    text += shape.vector == 0 ? values : "{" + values + "}";
  }
  text = ".reg .b16 %w;\n.reg .b32 %y;\n" + row.text + text + ";";
  // What else was written comes to the first results, too.
  const std::size_t words = results[4];
  for (std::size_t i = 1; i < words; ++i) {
    text += "\nmad.lo.u32 %h, %h, 5, " + kResults.at(4)[i] + ";";
  }
  if (results[2] == 2) {
    text += "\nmad.lo.u16 %v, %v, 5, %w;";
  }
  if (results[8] == 2) {
    text += "\nmad.lo.u64 %d, %d, 5, %x;";
  }
  return results.empty() ? "" : text;
}

/// The native form of a name has to be that of the row's operands: there may
/// be more of them, or others, in another row of the same name.
TEST_F(NativeRows, NamesThatSeveralRowsHave) {
  std::map<std::string, std::vector<std::string>> by_key;
  std::map<std::string, std::size_t> rows;
  for (const KeyedRow& row : all_rows()) {
    const std::string key = canonical_key(row.text);
    ++rows[key];
    const std::string code = code_of(row);
    if (!code.empty()) {
      by_key[key].push_back(code);
    }
  }
  std::size_t count = 0;
  for (const auto& [key, codes] : by_key) {
    for (const std::string& code : codes) {
      if (rows[key] > 1) {
        ++count;
        compare(code);
      }
    }
  }
  EXPECT_EQ(by_key.at("max.f32").size(), 2u);
  EXPECT_GT(count, 20u);
}

TEST_F(NativeRows, FieldsOfBits) {
  for (const std::string bits : {"32", "64"}) {
    const bool wide = bits == "64";
    const std::string result = wide ? "%d, " : "%h, ";
    const std::string a = wide ? "%a" : "%e";
    const std::string b = wide ? "%b" : "%f";
    for (const std::string op : {"popc", "clz"}) {
      compare_guarded(op + ".b" + bits + " %h, " + a + ";");
      compare(
          "cvt.u64.u32 %x, %t;\n" + op + ".b" + bits + " %h, " +
          (wide ? "%x;" : "%t;"));
      compare(op + ".b" + bits + " %h, 0;");
    }
    compare("popc.b32 %h, %n;");
    compare_guarded("brev.b" + bits + " " + result + a + ";");
    for (const std::string position :
         {"0", "5", "32", "63", "255", "%f", "%t"}) {
      for (const std::string length : {"0", "8", "33", "%g"}) {
        for (const std::string type : {"u", "s"}) {
          compare(
              "bfe." + type + bits + " " + result + a + ", " + position + ", " +
              length + ";");
        }
        compare(
            "bfi.b" + bits + " " + result + a + ", " + b + ", " + position +
            ", " + length + ";");
      }
    }
    compare_guarded("bfe.u" + bits + " " + result + a + ", %f, %g;");
    compare_guarded("bfi.b" + bits + " " + result + a + ", " + b + ", %f, %g;");
  }
  for (const std::string bytes :
       {"0x5410",
        "0x7632",
        "0x0123",
        "0x3340",
        "0x00074444",
        "0x1918",
        "%f",
        "%n"}) {
    compare_guarded("prmt.b32 %h, %e, %f, " + bytes + ";");
    compare("prmt.b32 %h, %n, %n, " + bytes + ";\nadd.u32 %h, %h, %t;");
    compare("prmt.b32 %h, %t, %n, " + bytes + ";");
    compare("prmt.b32 %h, 0x12345678, %e, " + bytes + ";");
  }
  compare("prmt.b32.f4e %h, %e, %f, 1;");
  for (const std::string amount :
       {"0", "5", "31", "32", "33", "%f", "%n", "%t"}) {
    for (const std::string way : {"clamp", "wrap"}) {
      for (const std::string op : {"add", "min", "max"}) {
        compare(
            "vshr.u32.u32.u32." + way + "." + op + " %h, %e, " + amount +
            ", %g;");
      }
      compare("vshr.u32.u32.u32." + way + ".add %h, %t, " + amount + ", %n;");
      for (const std::string side : {"l", "r"}) {
        compare("shf." + side + "." + way + ".b32 %h, %e, %f, " + amount + ";");
        compare("shf." + side + "." + way + ".b32 %h, %n, %n, " + amount + ";");
      }
    }
  }
  compare_guarded("shf.l.wrap.b32 %h, %e, %e, %g;");
}

TEST_F(NativeRows, Integers) {
  for (const std::string type : {"s32", "u32"}) {
    for (const std::string op : {"add", "sub", "min", "max", "mul.lo"}) {
      compare_guarded(op + "." + type + " %h, %e, %f;");
      compare(op + "." + type + " %h, %e, 12345;");
      compare(op + "." + type + " %h, %t, %n;");
    }
    compare_guarded("mad.lo." + type + " %h, %e, %f, %g;");
    compare("mad.lo." + type + " %h, %t, 12, %n;");
    compare_guarded("mul.wide." + type + " %d, %e, %f;");
    compare("mul.wide." + type + " %d, %e, 4;");
    compare("mad.wide." + type + " %d, %e, 4, %b;");
    compare_guarded("mul.hi." + type + " %h, %e, %f;");
    compare("mul.hi." + type + " %h, %t, 0xcccccccd;");
    compare("mul.hi." + type + " %h, %n, -7;");
    compare("mad.hi." + type + " %h, %e, %f, %g;");
    for (const std::string op : {"div.", "rem."}) {
      for (const std::string guard : {"", "@%p ", "@!%q "}) {
        compare_alone(guard + op + type + " %h, %e, %f;");
      }
      for (const std::string operands :
           {"%t, 3",
            "%t, %n",
            "%n, %e",
            "%e, %n",
            "%e, 0",
            "%e, -1",
            "0x80000000, %e",
            "0xffffffff, %f",
            "%n, 0",
            "%e, %e"}) {
        compare_alone(op + type + " %h, " + operands + ";");
      }
      // Some lanes by zero; behind a region that was left for that.
      compare_alone(
          "mul.lo.u32 %z, %t, 7;\nrem.u32 %k, %z, 5;\n" + op + type +
          " %h, %z, %k;\nmad.lo.u32 %h, %h, 3, %k;");
    }
  }
  // Where base + stride x lane is looked at, and is not as hoped.
  compare_alone(
      "add.u32 %z, %t, -3;\nmul.wide.u32 %d, %z, 4;\nadd.u64 %d, %d, 1;");
  compare_alone(
      "sub.u32 %z, 20, %t;\ncvt.u64.u32 %x, %z;\nadd.s64 %d, %x, %a;");
  compare_alone("add.u32 %z, %t, 5;\nshr.u32 %h, %z, 5;\nadd.u32 %h, %h, %t;");
  compare_alone("add.u32 %z, %t, 5;\nand.b32 %h, %z, 31;\nadd.u32 %h, %h, %t;");
  compare("mul.lo.u32 %z, %t, 3;\nor.b32 %h, %z, %n;\nadd.u32 %h, %h, %t;");
  // By what all lanes have alike; at the edges of what is positive, too.
  for (const std::string type : {"s32", "u32", "s64", "u64"}) {
    const bool wide = type[1] == '6';
    for (const std::string base :
         {wide ? "9223372036854775800" : "2147483640",
          wide ? "18446744073709551590" : "4294967270",
          "64"}) {
      for (const std::string divisor :
           {wide ? "9223372036854775807" : "2147483647", "100"}) {
        const std::string result = wide ? "%d" : "%h";
        compare_alone(
            (wide ? "cvt.u64.u32 %x, %t;\nadd.u64 %x, %x, "
                  : "add.u32 %z, %t, ") +
            base + ";\ndiv." + type + " " + result + ", " +
            (wide ? "%x, " : "%z, ") + divisor + ";\nrem." + type + " " +
            (wide ? "%x, %x, " : "%z, %z, ") + divisor + ";\nmad.lo." + type +
            " " + result + ", " + (wide ? "%x" : "%z") + ", 7, " + result +
            ";");
      }
    }
  }
  for (const std::string type : {"s64", "u64"}) {
    for (const std::string op : {"add", "sub", "min", "max", "mul.lo"}) {
      compare(op + "." + type + " %d, %a, %b;");
      compare(op + "." + type + " %d, %a, -3;");
    }
    for (const std::string op : {"div.", "rem."}) {
      compare_alone(op + type + " %d, %a, %b;");
      compare_alone("cvt.u64.u32 %x, %t;\n" + op + type + " %d, %x, 3;");
    }
    compare("mad.lo." + type + " %d, %a, %b, %c;");
    compare("mul.hi." + type + " %d, %a, %b;");
  }
  compare("add.s16 %v, %s, %u;");
  compare("mul.lo.u16 %v, %s, %u;");
  compare("mul.wide.s16 %h, %s, %u;");
  compare("neg.s32 %h, %e;");
  compare("neg.s64 %d, %a;");
  compare("add.cc.u32 %h, %e, %f;\naddc.u32 %h, %h, %g;");
}

TEST_F(NativeRows, DivisionsByWhatLanesHaveAlike) {
  for (const std::uint32_t divisor :
       {0x0u,
        0x1u,
        0x2u,
        0x3u,
        0x7u,
        0xau,
        0x100u,
        0x281u,
        0x10001u,
        0x7fffffffu,
        0x80000000u,
        0x80000001u,
        0xaaaaaaabu,
        0xfffffff9u,
        0xfffffffeu,
        0xffffffffu}) {
    // %n is 5; compilers do not know it.
    const std::string known =
        "xor.b32 %k, %n, " + std::to_string(divisor ^ 5u) + ";\n";
    const std::string next_to_multiples =
        "mul.lo.u32 %z, %k, %f;\nand.b32 %h, %t, 3;\nadd.u32 %z, %z, %h;\n"
        "sub.u32 %z, %z, 1;\n";
    const std::string literal = std::to_string(divisor) + ";";
    for (const std::string type : {"s32", "u32"}) {
      for (const std::string op : {"div.", "rem."}) {
        compare_native(known + op + type + " %h, %e, %k;");
        compare_native(known + next_to_multiples + op + type + " %h, %z, %k;");
        compare_native(op + type + " %h, %e, " + literal);
        compare_native(
            known + next_to_multiples + op + type + " %h, %z, " + literal);
      }
    }
  }
  for (const std::string type : {"s32", "u32"}) {
    for (const std::string op : {"div.", "rem."}) {
      compare_guarded(op + type + " %h, %e, %n;");
      compare_guarded(op + type + " %h, %e, 7;");
      // Values that are not as hoped, and behind that.
      compare_alone(
          "mul.lo.u32 %z, %t, 7;\n" + op + type + " %h, %z, 5;\n" + op + type +
          " %h, %t, %n;\nadd.u32 %z, %z, %e;\n" + op + type +
          " %k, %z, %n;\nadd.u32 %h, %h, %k;");
      compare_alone(op + type + " %h, 0x80000000, 0xffffffff;");
    }
  }
}

/// Constants of all lanes, as each kind of operand.
TEST_F(NativeRows, Literals) {
  for (const std::string literal : {"0", "1", "-1", "65535", "0x7fff"}) {
    compare_guarded("add.u16 %v, %s, " + literal + ";");
    for (const std::string type : {"s16", "u16"}) {
      compare("mul.wide." + type + " %h, %s, " + literal + ";");
    }
    compare("mul.wide.s32 %d, %e, " + literal + ";");
    compare("mad.wide.s32 %d, " + literal + ", %e, %a;");
    compare("mad.wide.s32 %d, " + literal + ", 5, %a;");
    compare("mad.lo.u64 %d, %a, " + literal + ", -3;");
    compare("mad.lo.u32 %h, " + literal + ", " + literal + ", %e;");
    compare("mad.hi.u32 %h, %e, " + literal + ", " + literal + ";");
    compare("max.u64 %d, %a, " + literal + ";");
    for (const std::string bits : {"16 %v", "32 %h", "64 %d"}) {
      compare("selp.b" + bits + ", " + literal + ", 4, %p;");
      compare("@%p mov.b" + bits + ", " + literal + ";");
    }
    compare("setp.eq.u16 %r, %s, " + literal + ";");
    compare("setp.lo.u64 %r, %a, " + literal + ";");
    compare("shr.s64 %d, " + literal + ", %f;");
    compare("shl.b16 %v, " + literal + ", %f;");
    compare("shf.l.wrap.b32 %h, " + literal + ", %e, %f;");
    compare("prmt.b32 %h, %e, " + literal + ", 0x3654;");
    compare("bfi.b32 %h, " + literal + ", %e, %f, 7;");
    compare("bfe.u32 %h, " + literal + ", %f, %g;");
    compare("mov.b64 %d, {" + literal + ", %t};");
    compare("sub.u32 %h, " + literal + ", %t;");
    compare("shfl.sync.idx.b32 %h, " + literal + ", %f, 31, -1;");
    // Stores, of lanes that lie anywhere and of those that do not.
    for (const std::string stride : {"37", "4", "1"}) {
      const std::string place = ".reg .b32 %w;\nmul.lo.u32 %z, %t, " + stride +
          ";\nand.b32 %z, %z, 63;\nshl.b32 %z, %z, 4;\nmov.u32 %w, tile;\n"
          "add.u32 %w, %w, %z;\nst.shared.v4.u32 [%w], {%e, %f, %g, %t};\n";
      const std::string back =
          "ld.shared.u64 %d, [%w+8];\nld.shared.u32 %h, [%w];";
      for (const std::string guard : {"", "@%p "}) {
        compare(
            place + guard + "st.shared.u32 [%w], " + literal + ";\n" + back);
        compare(
            place + guard + "st.shared.v4.u32 [%w], {1, %e, 3, " + literal +
            "};\n" + back);
      }
    }
  }
}

TEST_F(NativeRows, Logic) {
  for (const std::string op : {"and", "or", "xor"}) {
    compare_guarded(op + ".b32 %h, %e, %f;");
    compare(op + ".b64 %d, %a, %b;");
    compare(op + ".b16 %v, %s, %u;");
    compare_guarded(op + ".pred %r, %p, %q;");
    compare(op + ".pred %r, %p, !%q;");
  }
  // Bits of what rises from lane to lane.
  for (const std::string mask : {"31", "96", "127", "508", "5", "0xffffff80"}) {
    compare("and.b32 %h, %t, " + mask + ";");
    compare("shl.b32 %h, %t, 2;\nand.b32 %h, %h, " + mask + ";");
    compare("and.b32 %h, %e, " + mask + ";");
  }
  for (const std::string bits : {"64", "512", "1", "0x80000000", "%n"}) {
    compare_alone("or.b32 %h, %t, " + bits + ";");
    compare_alone("shl.b32 %h, %t, 4;\nor.b32 %h, %h, " + bits + ";");
    compare_alone("xor.b32 %h, " + bits + ", %t;");
    compare("or.b32 %h, %e, " + bits + ";");
  }
  for (const std::string amount : {"3", "5", "6", "8"}) {
    compare("shr.u32 %h, %t, " + amount + ";");
    compare_alone("add.u32 %h, %t, 100;\nshr.s32 %h, %h, " + amount + ";");
    compare_alone("sub.u32 %h, %t, 100;\nshr.u32 %h, %h, " + amount + ";");
  }
  compare("not.b32 %h, %e;");
  compare("not.b64 %d, %a;");
  compare("not.b16 %v, %s;");
  compare("not.pred %r, %q;");
  for (const std::string amount :
       {"0", "1", "31", "32", "40", "-1", "%f", "%n", "%t"}) {
    compare_guarded("shl.b32 %h, %e, " + amount + ";");
    compare("shr.u32 %h, %e, " + amount + ";");
    compare("shr.s32 %h, %e, " + amount + ";");
    compare("shl.b64 %d, %a, " + amount + ";");
    compare("shr.s64 %d, %a, " + amount + ";");
    compare("shl.b16 %v, %s, " + amount + ";");
    compare("shr.u16 %v, %s, " + amount + ";");
    compare("shr.s16 %v, %s, " + amount + ";");
    compare("shr.u64 %d, %a, " + amount + ";");
    compare("shr.s32 %h, %n, " + amount + ";");
    compare("shl.b32 %h, %t, " + amount + ";");
  }
}

TEST_F(NativeRows, Comparisons) {
  for (const std::string how : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    for (const std::string type : {"s32", "u32"}) {
      compare("setp." + how + "." + type + " %r, %e, %f;");
      compare("setp." + how + "." + type + " %r, %t, %n;");
    }
    compare_guarded("setp." + how + ".s64 %r, %a, %b;");
    compare("setp." + how + ".u64 %r, %a, %b;");
    compare("setp." + how + ".s16 %r, %s, %u;");
    compare("setp." + how + ".f32 %r, %e, %f;");
    compare("setp." + how + "u.f32 %r, %e, %f;");
    compare("setp." + how + ".f64 %r, %a, %b;");
    compare("setp." + how + ".and.s32 %r, %e, %f, %q;");
    compare("setp." + how + ".s32 %r|%p, %e, %f;");
  }
  for (const std::string how : {"lo", "ls", "hi", "hs"}) {
    compare("setp." + how + ".u32 %r, %e, %f;");
  }
  compare("setp.num.f32 %r, %e, %f;");
  compare("setp.nan.f64 %r, %a, %b;");
  compare_guarded("selp.b32 %h, %e, %f, %q;");
  compare("selp.f32 %h, %e, %f, %p;");
  compare("selp.b64 %d, %a, %b, %q;");
  compare("selp.b32 %h, 5, 6, %q;");
}

TEST_F(NativeRows, Conversions) {
  for (const std::string from : {"s32", "u32"}) {
    compare_guarded("cvt.s64." + from + " %d, %e;");
    compare("cvt.u64." + from + " %d, %t;");
    compare("cvt.rn.f32." + from + " %h, %e;");
    compare("cvt.rn.f64." + from + " %d, %e;");
  }
  compare("cvt.u32.u64 %h, %a;");
  compare("cvt.s32.s64 %h, %a;");
  compare("cvt.rn.f32.s64 %h, %a;");
  compare("cvt.rn.f32.u64 %h, %a;");
  compare("cvt.f64.f32 %d, %e;");
  compare("cvt.rn.f32.f64 %h, %a;");
  compare("cvt.rzi.s32.f32 %h, %e;");
  for (const std::string from : {"u16", "s16"}) {
    for (const std::string to : {"u32 %h", "s32 %h", "u64 %d", "s64 %d"}) {
      compare_guarded(
          "cvt." + to.substr(0, 3) + "." + from + to.substr(3) + ", %s;");
    }
    compare("cvt." + from + ".u64 %v, %a;");
    compare("cvt." + from + ".s32 %v, %t;\ncvt.u32." + from + " %h, %v;");
    compare_alone(
        "cvt.u16.u32 %v, %t;\nadd.u16 %v, %v, 65516;\ncvt.s64." + from +
        " %d, %v;");
  }
  compare("cvt.sat.u16.u32 %v, %e;");
  compare("cvt.u16.u32 %v, %e;");
  compare("cvt.s8.s32 %h, %e;");
  compare("mov.b32 %h, %e;");
  compare_guarded("mov.b64 %d, %a;");
  for (const std::string from : {"s8", "u8"}) {
    for (const std::string to : {"u32 %h", "s32 %h", "u64 %d", "s64 %d"}) {
      const std::string cvt =
          "cvt." + to.substr(0, 3) + "." + from + to.substr(3) + ", ";
      compare_guarded(cvt + "%s;");
      compare_guarded(cvt + "%e;");
      compare(cvt + "%n;");
      compare("add.u32 %z, %t, 100;\n" + cvt + "%z;");
    }
    compare("cvt.u16." + from + " %v, %e;\ncvt.s32.s16 %h, %v;");
  }
  compare_guarded("mov.b64 {%h, %z}, %a;\nmad.lo.u32 %h, %z, 3, %h;");
  compare("cvt.u64.u32 %x, %t;\nmov.b64 {%h, _}, %x;");
  compare("mov.b64 {_, %h}, %a;");
  compare_guarded("mov.b64 %d, {%e, %f};");
  compare("mov.b64 %d, {%n, %t};\nmov.b64 {%h, %z}, %d;\nadd.u32 %h, %h, %z;");
  compare("mov.b64 %d, {%n, 7};\nadd.u64 %d, %d, 1;");
  compare_guarded("mov.b32 %h, {%s, %u};");
  compare_guarded("mov.b32 {%v, _}, %e;\ncvt.u32.u16 %h, %v;");
  compare("mov.b32 {%s, %u}, %e;\nmov.b32 %h, {%u, %s};");
  compare("mov.u32 %h, %laneid;");
}

} // namespace
} // namespace cudasim::engine::testing
