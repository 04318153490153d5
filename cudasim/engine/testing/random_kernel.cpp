#include "cudasim/engine/testing/random_kernel.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

#include "cudasim/engine/testing/random_kernel_rows.h"

namespace cudasim::engine::testing {
namespace {

/// What is between semicolons.
std::vector<std::string> rows(const std::string& text) {
  std::vector<std::string> list;
  std::size_t begin = text.find_first_not_of(" \n");
  while (begin != std::string::npos) {
    const std::size_t end = text.find(';', begin) + 1;
    list.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(" \n", end);
  }
  return list;
}

class RandomKernel {
 public:
  /// @param faults the first warp does, so none of its lanes exit before.
  RandomKernel(unsigned seed, bool faults) : random_(seed), faults_(faults) {}

  std::string text() {
    begin();
    block(0, false, 6 + pick(12));
    if (faults_) {
      line("setp.lt.u32 %q, %t, " + number(1 + pick(40)) + ";");
      line("mul.wide.u32 %x, %t, 4;");
      line(guard() + "ld.global.b32 %w0, [%x+64];");
      line("@%q st.global.b32 [%x+4096], %w1;");
    }
    end();
    return text_;
  }

 private:
  unsigned pick(unsigned count) {
    return static_cast<unsigned>(random_() % count);
  }
  bool one_in(unsigned count) {
    return pick(count) == 0;
  }
  template <std::size_t kCount>
  std::string any(const char* const (&list)[kCount]) {
    return list[pick(kCount)];
  }
  const std::string& one_of(const std::vector<std::string>& list) {
    return list[pick(static_cast<unsigned>(list.size()))];
  }
  static std::string number(std::uint64_t value) {
    return std::to_string(value);
  }
  void line(const std::string& text) {
    text_ += text + "\n";
  }

  std::string constant(unsigned bits) {
    static constexpr std::int64_t kEdges[] = {0,          1,
                                              -1,         2,
                                              3,          4,
                                              5,          8,
                                              12,         16,
                                              31,         32,
                                              33,         63,
                                              64,         96,
                                              127,        128,
                                              255,        256,
                                              508,        4096,
                                              0x7fff,     -0x8000,
                                              0x7fffffff, -0x80000000ll,
                                              0x3f800000};
    std::int64_t value = kEdges[pick(std::size(kEdges))];
    if (bits == 16) {
      value = static_cast<std::int16_t>(value);
    } else if (bits == 32) {
      value = static_cast<std::int32_t>(value);
    }
    return std::to_string(value);
  }
  /// A source: D, W, H and P are registers of 64, 32 and 16 bits and
  /// predicates, d, w and h also constants and such.
  std::string operand(char kind) {
    switch (kind) {
      case 'D':
        return "%d" + number(pick(kLongs));
      case 'd':
        return one_in(4) ? constant(64) : operand('D');
      case 'W':
        return "%w" + number(pick(kWords));
      case 'w':
        return one_in(5) ? constant(32)
            : one_in(6)  ? "%t"
            : one_in(6)  ? "%n"
                         : operand('W');
      case 'H':
        return "%h" + number(pick(kShorts));
      case 'h':
        return one_in(4) ? constant(16) : operand('H');
      case 'P':
        return "%p" + number(pick(kPredicates));
      case 'p':
        return (one_in(3) ? "!" : "") + operand('P');
      case 's': // an amount to shift by
        return one_in(4) ? operand('W') : number(pick(70));
      case 'f':
        return one_in(5) ? "0f3f800000" : operand('W');
      case 'g':
        return one_in(5) ? "0d3ff8000000000000" : operand('D');
      default:
        return "";
    }
  }
  /// "add.s32 $W, $w, $w;" with operands for what is behind "$".
  std::string filled(const std::string& pattern) {
    std::string result;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      result += pattern[i] == '$' ? operand(pattern[++i])
                                  : std::string(1, pattern[i]);
    }
    return result;
  }
  std::string guard() {
    return one_in(4)
        ? std::string("@") + (one_in(2) ? "!" : "") + operand('P') + " "
        : "";
  }

  void begin() {
    text_ =
        ".visible .entry kernel(.param .u64 out, .param .u64 in, "
        ".param .u32 n) {\n"
        ".reg .b64 %out, %in, %x, %y, %g, %d<" +
        number(kLongs) +
        ">, %o<17>;\n.reg .b32 %t, %n, %z, %k<8>, %s<17>, %w<" +
        number(kWords) + ">;\n.reg .b16 %v, %h<" + number(kShorts) +
        ">;\n.reg .pred %q, %u, %p<" + number(kPredicates) +
        ">;\n.shared .align 16 .b8 tile[" + number(kPlaces) + "];\n";
    line("ld.param.u64 %out, [out];\nld.param.u64 %in, [in];");
    line("ld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;");
    line("mov.u64 %y, tile;\ncvta.shared.u64 %g, %y;");
    unsigned offset = 0;
    for (unsigned size = 16; size > 0; size /= 2) {
      const std::string s = number(size);
      line("mad.wide.u32 %o" + s + ", %t, " + s + ", %out;");
      line("add.u64 %o" + s + ", %o" + s + ", " + number(kDump + offset) + ";");
      line("mov.u32 %z, tile;\nmad.lo.u32 %s" + s + ", %t, " + s + ", %z;");
      line("add.u32 %s" + s + ", %s" + s + ", " + number(offset) + ";");
      for (unsigned k = 0; k < kColumns && size >= 4; ++k) {
        line("mov.u32 %z, " + number(k) + ";");
        line(
            "st.shared.b32 [%s" + s + "+" + number(k * size * kThreads) +
            "], %z;");
        for (unsigned at = 4; at < size; at += 4) {
          line(
              "st.shared.b32 [%s" + s + "+" + number(k * size * kThreads + at) +
              "], %t;");
        }
      }
      offset += size * kColumns * kThreads;
    }
    for (unsigned k = 0; k < kColumns; ++k) {
      line(
          "mov.u16 %v, 7;\nst.shared.b16 [%s2+" + number(k * 2 * kThreads) +
          "], %v;\nst.shared.u8 [%s1+" + number(k * kThreads) + "], %v;");
    }
    line("mad.wide.u32 %x, %t, 8, %in;");
    for (unsigned i = 0; i < kLongs; ++i) {
      line(
          "ld.global.u64 %d" + number(i) + ", [%x+" +
          number(i % kInputs * 8 * kThreads) + "];");
    }
    for (unsigned i = 0; i < kWords; ++i) {
      line("cvt.u32.u64 %w" + number(i) + ", %d" + number(i % kLongs) + ";");
    }
    line("mov.u32 %w6, %t;\nshl.b32 %w7, %t, 2;");
    for (unsigned i = 0; i < kShorts; ++i) {
      line("cvt.u16.u64 %h" + number(i) + ", %d" + number(i) + ";");
    }
    line("setp.lt.s32 %p0, %w0, %w1;\nsetp.lt.u32 %p1, %t, 40;");
    line("setp.eq.u32 %p2, %n, 2;\nsetp.ne.u32 %p3, %w2, 0;");
    if (one_in(2)) {
      // How the lanes' values lie is seen behind a barrier that gives them one.
      line("{\n.reg .pred %any;\nbar.red.or.pred %any, 0, %p1;\n}");
    }
  }

  void end() {
    unsigned column = 0;
    const auto next = [&] {
      return "[%o8+" + number(8 * kThreads * column++) + "]";
    };
    line("mad.wide.u32 %o8, %t, 8, %out;");
    for (unsigned i = 0; i < kLongs; ++i) {
      line("st.global.b64 " + next() + ", %d" + number(i) + ";");
    }
    for (unsigned i = 0; i < kWords; ++i) {
      line("st.global.b32 " + next() + ", %w" + number(i) + ";");
    }
    for (unsigned i = 0; i < kShorts; ++i) {
      line("st.global.b16 " + next() + ", %h" + number(i) + ";");
    }
    line("mov.u32 %w0, 0;");
    for (unsigned i = 0; i < kPredicates; ++i) {
      line("@%p" + number(i) + " add.u32 %w0, %w0, " + number(1u << i) + ";");
    }
    line("st.global.b32 " + next() + ", %w0;\nret;\n}");
  }

  void block(int depth, bool apart, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = pick(40);
      if (kind < 4 && depth < 3) {
        branch(depth, apart);
      } else if (kind < 7 && depth < 3) {
        loop(depth, apart);
      } else if (kind < 14) {
        memory(apart);
      } else if (kind < 16 && !apart) {
        together();
      } else if (kind < 17 && !faults_ && depth < 2 && one_in(4)) {
        line("@" + std::string(one_in(2) ? "!" : "") + operand('P') + " ret;");
      } else if (kind < 21) {
        real();
      } else {
        plain();
      }
    }
  }

  void branch(int depth, bool apart) {
    const std::string id = number(labels_++);
    const bool alike = one_in(3); // for all lanes
    const std::string condition = alike ? "%u" : operand('P');
    if (alike) {
      line(
          "setp." + any({"lt", "eq", "gt"}) + ".u32 %u, %n, " +
          number(pick(5)) + ";");
    }
    const std::string bra = any({"bra ", "bra "});
    line(
        "@" + std::string(one_in(2) ? "!" : "") + condition + " " + bra +
        "ELSE" + id + ";");
    const auto side = [&] { block(depth + 1, apart || !alike, 1 + pick(4)); };
    switch (pick(3)) {
      case 0:
        side();
        line("ELSE" + id + ":");
        break;
      case 1:
        side();
        line("bra MET" + id + ";\nELSE" + id + ":");
        side();
        line("MET" + id + ":");
        break;
      default: // as nvcc has it
        line("bra.uni THEN" + id + ";\nELSE" + id + ":");
        side();
        line("bra.uni MET" + id + ";\nTHEN" + id + ":");
        side();
        line("MET" + id + ":");
    }
  }

  void loop(int depth, bool apart) {
    const std::string id = number(labels_++);
    const std::string counter = "%k" + number(static_cast<unsigned>(depth));
    const std::string most = "%k" + number(static_cast<unsigned>(depth) + 4);
    const bool alike = one_in(2);
    line("mov.u32 " + counter + ", 0;");
    line(
        alike ? "and.b32 " + most + ", %n, 3;"
              : "and.b32 " + most + ", " + operand('W') + ", 3;");
    if (depth == 0 && one_in(6)) { // beyond a slice of the scheduler
      line("mul.lo.u32 " + most + ", " + most + ", 300;");
    }
    line("LOOP" + id + ":");
    block(depth + 1, apart || !alike, 1 + pick(4));
    if (one_in(3)) {
      line("add.u32 %w1, %w1, " + counter + ";");
    }
    line("add.u32 " + counter + ", " + counter + ", 1;");
    line("setp.lt.u32 %u, " + counter + ", " + most + ";");
    line("@%u bra LOOP" + id + ";");
  }

  /// For which all lanes have to be there.
  void together() {
    switch (pick(5)) {
      case 0:
        line("bar.sync 0;");
        break;
      case 1:
        line("bar.warp.sync -1;");
        break;
      case 2:
        line("mov.u32 %z, " + operand('W') + ";");
        line(
            "shfl.sync." + any({"bfly", "up", "down", "idx"}) + ".b32 " +
            operand('W') + (one_in(2) ? "|" + operand('P') : "") + ", %z, " +
            (one_in(8) ? operand('W') : number(pick(32))) + ", " +
            any({"31", "31", "0", "0x1c1f"}) + ", -1;");
        break;
      case 3:
        line(
            "vote.sync.ballot.b32 " + operand('W') + ", " + operand('p') +
            ", -1;");
        break;
      default:
        line(
            "mov.u32 %z, -1;\nvote.sync.any.pred " + operand('P') + ", " +
            operand('P') + ", %z;");
    }
  }

  void plain() {
    static const auto kRows = rows(kPlainRows);
    line(guard() + filled(one_of(kRows)));
  }

  /// Of floats, whose NaNs become the one that both modes have.
  void real() {
    static const auto kSingle = rows(kSingleRows);
    static const auto kDouble = rows(kDoubleRows);
    const bool single = one_in(2);
    const std::string target = operand(single ? 'W' : 'D');
    std::string pattern = one_of(single ? kSingle : kDouble);
    pattern.replace(pattern.find("$,"), 1, target);
    line(guard() + filled(pattern));
    line(
        (single ? "setp.nan.f32 %q, " : "setp.nan.f64 %q, ") + target + ", " +
        target + ";");
    line(
        (single ? "@%q mov.b32 " : "@%q mov.b64 ") + target +
        (single ? ", 0x7fffffff;" : ", 0x7fffffffffffffff;"));
  }

  /// Loads, and stores to the thread's own places.
  void memory(bool) {
    const std::string size = any({"1", "2", "4", "8", "16"});
    const unsigned bytes = static_cast<unsigned>(std::atoi(size.c_str()));
    const std::string at = number(pick(kColumns) * bytes * kThreads) + "]";
    std::string place;
    std::string space = "global";
    switch (pick(5)) {
      case 0:
        space = "shared";
        place = "[%s" + size + "+" + at;
        break;
      case 1: { // through an address of all spaces
        space = "";
        line("cvt.u64.u32 %x, %s" + size + ";\nsub.u64 %x, %x, %y;");
        line("add.u64 %x, %x, %g;");
        place = "[%x+" + at;
        break;
      }
      case 2: // made here
        line("mad.wide.u32 %x, %t, " + size + ", %out;");
        place = "[%x+" +
            number(kDump + (32 - 2 * bytes) * kColumns * kThreads +
                   pick(kColumns) * bytes * kThreads) +
            "]";
        break;
      default:
        place = "[%o" + size + "+" + at;
    }
    if (bytes == 4 && one_in(3)) {
      const std::string row = any({"atom", "red"}) + "." +
          (space.empty() ? "" : space + ".") + any({"add", "max", "xor"});
      const bool adds = row.back() == 'd';
      line(
          guard() + row + (adds || row.back() == 'x' ? ".u32 " : ".b32 ") +
          (row[0] == 'a' ? operand('W') + ", " : "") + place + ", " +
          operand('W') + ";");
      return;
    }
    const bool loads = one_in(2);
    std::string type;
    std::string value;
    switch (bytes) {
      case 1:
        type = any({"u8", "s8", "b8"});
        value = operand(any({"W", "H", "D"})[0]);
        break;
      case 2:
        type = any({"u16", "s16", "b16"});
        value = operand(any({"W", "H", "D"})[0]);
        break;
      case 4:
        type = any({"b32", "s32", "u32"});
        value = operand(any({"W", "D"})[0]);
        break;
      case 8:
        type = one_in(2) ? "v2.b32" : "b64";
        value = type == "b64"
            ? operand('D')
            : "{%w" + number(pick(4)) + ", %w" + number(4 + pick(4)) + "}";
        break;
      default:
        type = one_in(2) ? "v4.b32" : "v2.b64";
        value = type == "v2.b64" ? "{%d0, %d" + number(1 + pick(4)) + "}"
                                 : "{%w1, %w0, %w" + number(2 + pick(3)) +
                ", %w" + number(5 + pick(3)) + "}";
    }
    const std::string words = (one_in(8) ? ".volatile" : "") +
        (space.empty() ? "" : "." + space) + "." + type + " ";
    if (!loads) {
      line(guard() + "st" + words + place + ", " + value + ";");
      return;
    }
    if (one_in(3)) { // from the input: the same for all, or apart
      const std::string index = any({"%n", "%w0", "%w6", "%w7", "%z"});
      if (index == "%z") {
        line("mov.u32 %z, 3;");
      }
      line("and.b32 %z, " + index + ", 15;\nmad.wide.u32 %x, %z, 16, %in;");
      place = "[%x+" + number(16 * pick(8)) + "]";
      space = "global";
      line(guard() + "ld.global." + type + " " + value + ", " + place + ";");
      return;
    }
    line(guard() + "ld" + words + value + ", " + place + ";");
  }

  std::mt19937 random_;
  const bool faults_;
  std::string text_;
  unsigned labels_ = 0;
};

} // namespace

std::string random_kernel(unsigned seed, bool faults) {
  return RandomKernel(seed, faults).text();
}

} // namespace cudasim::engine::testing
