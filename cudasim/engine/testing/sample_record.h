// What a test expects of an instruction on operands: folding/ptxas_test.py asks
// NVIDIA's compiler the same.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "cudasim/engine/testing/values.h"

namespace cudasim::engine::testing {

/// One operand: its register, and its value.
struct Operand {
  Register kind;
  Bits value;
};

/// Of which format the NaNs of a type are: "f32"; "b" where there are none.
template <typename T>
std::string format_of() {
  return std::is_same_v<T, float> ? "f32"
      : std::is_same_v<T, double> ? "f64"
      : std::is_same_v<T, F16>    ? "f16"
      : std::is_same_v<T, BF16>   ? "bf16"
      : std::is_same_v<T, F16x2>  ? "f16x2"
      : std::is_same_v<T, BF16x2> ? "bf16x2"
      : std::is_same_v<T, F32x2>  ? "f32x2"
                                  : "b";
}

/// Adds a line to the file that the environment variable CUDASIM_SAMPLES names:
/// "instruction TAB code TAB format TAB expected TAB result before TAB sources
/// TAB …", operands as "32:1f" and a predicate's as "1:0".
/// @param code with $d0, $0, $1, … as an Experiment has it.
void record_sample(
    const std::string& instruction,
    const std::string& code,
    const std::string& format,
    Bits expected,
    const Operand& before,
    const std::vector<Operand>& sources);

} // namespace cudasim::engine::testing
