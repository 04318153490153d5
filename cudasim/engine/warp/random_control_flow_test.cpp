// Random programs of branches, loops, breaks and early ends, which every lane
// goes through in its own way, against the same program for one lane at a time.
#include "cudasim/engine/testing/kernel_test.h"

#include <random>

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

/// What a statement did to the way of a lane.
enum class Way { kOn, kBreak, kContinue, kEnd };

struct Statement {
  enum class Kind { kMix, kIf, kLoop, kBreakIf, kContinueIf, kEndIf };
  Kind kind = Kind::kMix;
  U32 factor = 1; // of kMix
  U32 mask = 0; // a condition: (x & mask) == value
  U32 value = 0;
  U32 turns = 0; // kLoop: up to this many and what x says
  std::vector<Statement> body;
  std::vector<Statement> other; // kIf: else
};

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    statements_ = block(0, false);
  }

  /// What is in x at the end.
  U32 run(U32 x) const {
    run(statements_, x);
    return x;
  }

  /// Code on %r0 (x); loops count in registers from %r1 on.
  std::string text() {
    return text(statements_, 0, "", "") + "END:\nst.global.u32 [%out], %r0;";
  }

 private:
  U32 pick(U32 count) {
    return static_cast<U32>(random_() % count);
  }

  std::vector<Statement> block(int depth, bool in_loop) {
    std::vector<Statement> list;
    const U32 count = 1 + pick(3);
    for (U32 i = 0; i < count; ++i) {
      Statement mix;
      mix.factor = 2 * pick(500) + 3;
      list.push_back(mix);
      Statement next;
      next.mask = 1u << (3 + pick(8)) | 1u << (3 + pick(8));
      next.value = pick(3) == 0 ? 0 : next.mask;
      const U32 kind = pick(10);
      if (depth < 4 && kind < 4) {
        next.kind = Statement::Kind::kIf;
        next.body = block(depth + 1, in_loop);
        next.other =
            pick(2) == 0 ? std::vector<Statement>{} : block(depth + 1, in_loop);
      } else if (depth < 3 && kind < 6) {
        next.kind = Statement::Kind::kLoop;
        next.turns = 1 + pick(3);
        next.body = block(depth + 1, true);
      } else if (in_loop && kind < 8) {
        next.kind = kind == 6 ? Statement::Kind::kBreakIf
                              : Statement::Kind::kContinueIf;
      } else if (kind == 8 && pick(4) == 0) {
        next.kind = Statement::Kind::kEndIf;
        next.mask |= 1u << 12 | 1u << 13;
        next.value = next.mask;
      }
      next.factor = 2 * pick(500) + 3;
      list.push_back(next);
    }
    return list;
  }

  static Way run(const std::vector<Statement>& list, U32& x) {
    for (const Statement& s : list) {
      const bool holds = (x & s.mask) == s.value;
      switch (s.kind) {
        case Statement::Kind::kMix:
          x = x * s.factor + 12345;
          break;
        case Statement::Kind::kIf: {
          const Way way = run(holds ? s.body : s.other, x);
          if (way != Way::kOn) {
            return way;
          }
          break;
        }
        case Statement::Kind::kLoop: {
          const U32 turns = s.turns + (x >> 5 & 3);
          for (U32 i = 0; i < turns; ++i) {
            const Way way = run(s.body, x);
            if (way == Way::kEnd) {
              return way;
            }
            if (way == Way::kBreak) {
              break;
            }
          }
          break;
        }
        case Statement::Kind::kBreakIf:
        case Statement::Kind::kContinueIf:
        case Statement::Kind::kEndIf:
          if (holds) {
            return s.kind == Statement::Kind::kBreakIf ? Way::kBreak
                : s.kind == Statement::Kind::kEndIf    ? Way::kEnd
                                                       : Way::kContinue;
          }
          break;
      }
    }
    return Way::kOn;
  }

  std::string label() {
    return "L" + std::to_string(++labels_);
  }
  static std::string condition(const Statement& s) {
    return "and.b32 %r19, %r0, " + std::to_string(s.mask) +
        ";\nsetp.eq.u32 %p0, %r19, " + std::to_string(s.value) + ";\n";
  }

  /// @param depth of loops, @param out, @param next labels for break and
  /// continue.
  std::string text(
      const std::vector<Statement>& list,
      int depth,
      const std::string& out,
      const std::string& next) {
    std::string code;
    for (const Statement& s : list) {
      switch (s.kind) {
        case Statement::Kind::kMix:
          code +=
              "mad.lo.u32 %r0, %r0, " + std::to_string(s.factor) + ", 12345;\n";
          break;
        case Statement::Kind::kIf: {
          const std::string other = label();
          const std::string end = label();
          code += condition(s) + "@!%p0 bra " + other + ";\n" +
              text(s.body, depth, out, next) + "bra " + end + ";\n" + other +
              ":\n" + text(s.other, depth, out, next) + end + ":\n";
          break;
        }
        case Statement::Kind::kLoop: {
          const std::string head = label();
          const std::string end = label();
          const std::string again = label();
          const std::string turns = "%r" + std::to_string(1 + depth);
          code += "shr.u32 " + turns + ", %r0, 5;\nand.b32 " + turns + ", " +
              turns + ", 3;\nadd.u32 " + turns + ", " + turns + ", " +
              std::to_string(s.turns) + ";\n" + head + ":\nsetp.eq.u32 %p0, " +
              turns + ", 0;\n@%p0 bra " + end + ";\n" +
              text(s.body, depth + 1, end, again) + again + ":\nsub.u32 " +
              turns + ", " + turns + ", 1;\nbra " + head + ";\n" + end + ":\n";
          break;
        }
        case Statement::Kind::kBreakIf:
          code += condition(s) + "@%p0 bra " + out + ";\n";
          break;
        case Statement::Kind::kContinueIf:
          code += condition(s) + "@%p0 bra " + next + ";\n";
          break;
        case Statement::Kind::kEndIf:
          code += condition(s) + "@%p0 bra END;\n";
          break;
      }
    }
    return code;
  }

  std::mt19937 random_;
  std::vector<Statement> statements_;
  int labels_ = 0;
};

class RandomControlFlow : public KernelTest {};

TEST_F(RandomControlFlow, EachLaneComesToItsOwnResult) {
  Shape shape;
  shape.grid.x = 2;
  shape.block.x = 72;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomProgram program(seed);
    const std::string code =
        "mad.lo.u32 %r0, %t, 2654435761, 99;\n" + program.text();
    const auto words = words_of(code, shape);
    for (U32 thread = 0; thread < words.size(); ++thread) {
      ASSERT_EQ(words[thread], program.run(thread * 2654435761u + 99))
          << "seed " << seed << ", thread " << thread << "\n"
          << code;
    }
  }
}

TEST_F(RandomControlFlow, LanesMeetAgainAtTheEnd) {
  // Where all ways meet, all lanes that are there go on together.
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomProgram program(seed);
    const auto words = words_of(
        "mad.lo.u32 %r0, %t, 2654435761, 99;\n" + program.text() +
        "\nactivemask.b32 %r0;\nst.global.u32 [%out], %r0;");
    for (const U32 word : words) {
      ASSERT_EQ(word, 0xffffffffu) << "seed " << seed;
    }
  }
}

} // namespace
} // namespace cudasim::engine::testing
