// What threads of the kernel tell each other.
#include "cudasim/engine/optimization/testing/statements.h"

#include "cudasim/engine/optimization/testing/random_module.h"

namespace cudasim::engine::optimization::random_functions {

void write_slots(Body& body) {
  body.line(
      ".shared .align 4 .b8 slots[$1];\n.reg .b64 %slot;\n"
      "mov.u64 %slot, slots;\nmad.wide.u32 %slot, %w0, 4, %slot;\n"
      "st.shared.u32 [%slot], %w0;",
      4 * kThreads);
}

void write_exchange(Body& body) {
  if (!body.is_kernel() || body.depth != 0 || body.style.exits) {
    return;
  }
  switch (body.random.below(3)) {
    case 0:
      body.line(
          "shfl.sync.bfly.b32 $W, $W, $1, 31, -1;", 1 + body.random.below(31));
      break;
    case 1:
      body.line("vote.sync.ballot.b32 $W, $P, -1;");
      break;
    default:
      body.line(
          "st.shared.u32 [%slot], $W;\nbar.sync 0;\n"
          "mov.u32 $1, %tid.x;\nxor.b32 $1, $1, $3;\nmov.u64 $2, slots;\n"
          "mad.wide.u32 $2, $1, 4, $2;\nld.shared.u32 $W, [$2];\nbar.sync 0;",
          body.fresh("%x"),
          body.fresh("%a"),
          1 + body.random.below(kThreads - 1));
      break;
  }
}

} // namespace cudasim::engine::optimization::random_functions
