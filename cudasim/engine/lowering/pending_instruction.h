// Instructions on their way from the text to the code: what they do is known,
// where their registers will be is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/lowering/control_flow_graph.h"

namespace cudasim::engine {

/// An operand before registers have their places.
struct Source {
  enum class Kind : std::uint8_t { kNone, kRegister, kConstant };
  Kind kind = Kind::kNone;
  std::uint32_t index = 0; // virtual register
  Slot slot = kNoSlot; // constant
  std::uint8_t width = 0;
  bool negated = false;
};

/// An instruction with such operands.
struct PendingInstruction {
  Inst inst;
  std::vector<Source> operands;
  Source guard;
  FlowEdge flow; // to instructions as the text counts them
  Control control; // its slots are indices of `operands`
  bool is_control = false;
  Code::Accesses accesses;
  std::string text; // for reports
};

} // namespace cudasim::engine
