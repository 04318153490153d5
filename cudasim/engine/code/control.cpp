#include "cudasim/engine/code/control.h"

namespace cudasim::engine {

Flow control_instruction(Warp&, const Inst&, Mask) {
  return Flow::kControl;
}

Flow unsupported_instruction(Warp& warp, const Inst& inst, Mask active) {
  warp.fault.kind = FaultKind::kUnsupported;
  warp.fault.lane = static_cast<std::uint8_t>(__builtin_ctz(active));
  warp.fault.line = inst.line;
  return Flow::kFault;
}

} // namespace cudasim::engine
