// Statements about registers alone, and predicates.
#include "cudasim/engine/optimization/testing/statements.h"

#include <iterator>

namespace cudasim::engine::optimization::random_functions {
namespace {

constexpr const char* kArithmetic[] = {
    "$@$(add.s32|sub.u32|mul.lo.s32|xor.b32|and.b32|or.b32|min.s32|max.u32) "
    "$W, $W, $w;",
    "$@$(add.s64|sub.u64|mul.lo.u64|xor.b64|and.b64|or.b64|min.u64) "
    "$D, $D, $d;",
    "$@$(add.s16|sub.u16|mul.lo.u16|xor.b16|min.s16) $H, $H, $H;",
    "$@$(shl.b32|shr.u32|shr.s32) $W, $W, $<40>;",
    "$@mul.wide.$(s32|u32) $D, $W, $w;",
    "$@cvt.$(s64.s32|u64.u32|s64.s8|u64.u16) $D, $W;",
    "$@cvt.$(s32.s16|u32.u16|s32.s8|u32.u8|u8.s16|s8.u16) $W, $H;",
    "$@cvt.$(u16.u32|s16.s32|s8.s32|u8.u32) $H, $W;",
    "$@selp.b32 $W, $w, $W, $P;",
    "$@mov.b64 $D, {$W, $W};",
    "$@mov.b64 {%w2, $(%w3|%w4)}, $D;",
    "$@add.f32 $F, $F, 0f3F9D70A4;",
    "$@mov.b32 $W, $F;",
    "$@mov.u32 $W, $<64>;",
    // The first one's number may be of no use; its carry is.
    "add.cc.u32 $1, $W, $W;\naddc.u32 $W, $W, $w;",
    "sub.cc.u32 $1, $W, $W;\nsubc.u32 $W, $W, $w;",
    "add.cc.u32 $W, $W, $W;\naddc.u32 $W, $W, $w;",
};

constexpr const char* kPredicateRows[] = {
    "setp.$(lt.s32|ge.u32|eq.s32|hi.u32) $P, $W, $w;",
    "setp.$(lt.s64|ge.u64|ne.s64) $P, $D, $d;",
    "setp.lt.s32 %p0|%p1, $W, $W;",
    "setp.ne.and.s32 $P, $W, $W, $!$P;",
    "mov.pred $P, $P;",
    "not.pred $P, $P;",
};

} // namespace

void write_arithmetic(Body& body) {
  body.line(
      kArithmetic[body.random.below(std::size(kArithmetic))], body.fresh("%x"));
}

void write_predicate(Body& body) {
  body.line(kPredicateRows[body.random.below(std::size(kPredicateRows))]);
}

void write_copies(Body& body) {
  switch (body.random.below(6)) {
    case 0:
    case 1:
      body.line(
          "mov.b64 $1, $2;\nmov.b64 $2, $3;\nmov.b64 $3, $1;",
          body.fresh("%a"),
          body.any('D'),
          body.any('D'));
      break;
    case 2:
      body.line("mov.f32 %f0, %f1;\nmov.b32 $W, %f0;\nmov.b32 %f1, $W;");
      break;
    default:
      body.line(
          "mov.u32 $1, $2;\n$@add.u32 $2, $W, $w;\n"
          "mov.u32 $W, $1;\n$@mov.u32 $W, $2;",
          body.fresh("%x"),
          body.any('W'));
      break;
  }
}

} // namespace cudasim::engine::optimization::random_functions
