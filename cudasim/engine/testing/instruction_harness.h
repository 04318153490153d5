// Runs one instruction on many operands and compares with what a function says.
//
//   check<std::int32_t, std::int32_t, std::int32_t>(
//       "add.sat.s32", [](auto a, auto b) { return clamp(...); });
//
// The instruction runs in a kernel of its own, through the engine's public
// interface: every lane loads its operands and an old value of the destination,
// executes the instruction if it is among the active lanes of its warp, and
// stores the destination. Lanes that are not active have to keep the old value.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/sample_record.h"
#include "cudasim/engine/testing/values.h"

namespace cudasim::engine::testing {

/// One operand of an experiment: its register and its value in each thread.
struct Column {
  Register kind = Register::k32;
  std::vector<Bits> values;
};

/// Code on registers $d0, $d1, … (results) and $0, $1, … (sources).
struct Experiment {
  std::string code;
  std::vector<Column> results; // before the code runs
  std::vector<Column> sources;
  /// For each warp of 32 values the lanes that execute the code.
  std::vector<std::uint32_t> active;
  /// Declarations before the kernel's registers.
  std::string declarations;
  std::string target = "sm_107a";
};

/// What is in the results afterwards; a failed expectation and nothing when
/// the kernel does not end well.
std::vector<Column> run_experiment(const Experiment& experiment);

/// How many operand tuples an instruction is tried on; a multiple of 32.
inline constexpr std::size_t kSamples = 512;
/// Those that are recorded, from a warp whose lanes are all active.
inline constexpr std::size_t kFirstRecorded = 64;
inline constexpr std::size_t kLastRecorded = 71;

/// Reproducible values: half of them from `edges`, the rest random with random
/// lengths.
/// @param salt makes the columns of one experiment differ.
std::vector<Bits> sample(
    Register kind,
    const std::vector<Bits>& edges,
    unsigned salt);

/// Masks for kSamples / 32 warps: all lanes, single ones, and random ones.
std::vector<std::uint32_t> sample_masks();

/// Reports a difference; only the first few of an instruction are printed.
class Differences {
 public:
  explicit Differences(std::string instruction)
      : instruction_(std::move(instruction)) {}
  void add(
      const std::vector<Bits>& operands,
      const std::string& what,
      Bits is,
      Bits expected);
  ~Differences();
  Differences(const Differences&) = delete;
  Differences& operator=(const Differences&) = delete;

 private:
  std::string instruction_;
  std::string text_;
  std::size_t count_ = 0;
};

/// "add.s32 $d0, $0, $1;" for two sources.
std::string plain_code(const std::string& instruction, std::size_t sources);

/// function(operands…), each as its type.
template <typename... S, typename F, std::size_t... kIndex>
auto call(
    const F& function,
    const std::vector<Bits>& operands,
    std::index_sequence<kIndex...>) {
  return function(Kind<S>::unpack(operands[kIndex])...);
}

template <typename D>
using Accept = std::function<bool(D is, D expected)>;

/// Compares an instruction with one destination with `expected` on all samples.
/// @tparam D the destination's type, @tparam S the sources' types.
/// @param instruction with its modifiers. @param expected a function of the
/// sources. @param code replaces "instruction $d0, $0, $1, …;".
/// @param accept says whether a result is right; the same bits by default, and
/// any NaN for a NaN. A form that PTX lacks is passed over (is_instruction).
template <typename D, typename... S, typename F>
void check(
    const std::string& instruction,
    F expected,
    std::string code = "",
    const Accept<D>& accept = {}) {
  if (!is_instruction(instruction)) {
    return;
  }
  Experiment experiment;
  experiment.code =
      code.empty() ? plain_code(instruction, sizeof...(S)) : std::move(code);
  unsigned salt = 0;
  experiment.results.push_back(
      {Kind<D>::kRegister, sample(Kind<D>::kRegister, Kind<D>::edges(), 99)});
  (experiment.sources.push_back(
       {Kind<S>::kRegister,
        sample(Kind<S>::kRegister, Kind<S>::edges(), ++salt)}),
   ...);
  experiment.active = sample_masks();
  const std::vector<Column> results = run_experiment(experiment);
  if (results.empty()) {
    return;
  }
  Differences differences(instruction);
  for (std::size_t i = 0; i < kSamples; ++i) {
    const bool active = (experiment.active[i / 32] >> (i % 32) & 1) != 0;
    const Bits is = results[0].values[i];
    std::vector<Bits> operands;
    for (const Column& source : experiment.sources) {
      operands.push_back(source.values[i]);
    }
    if (!active) {
      const Bits old = experiment.results[0].values[i];
      if (is != old) {
        differences.add(operands, "an inactive lane", is, old);
      }
      continue;
    }
    const D right =
        call<S...>(expected, operands, std::index_sequence_for<S...>{});
    if (!accept && i >= kFirstRecorded && i <= kLastRecorded) {
      std::vector<Operand> sources;
      for (const Column& source : experiment.sources) {
        sources.push_back({source.kind, source.values[i]});
      }
      record_sample(
          instruction,
          experiment.code,
          format_of<D>(),
          Kind<D>::pack(right),
          {experiment.results[0].kind, experiment.results[0].values[i]},
          sources);
    }
    const bool good = accept ? accept(Kind<D>::unpack(is), right)
                             : Kind<D>::same(is, Kind<D>::pack(right));
    if (!good) {
      differences.add(operands, "the result", is, Kind<D>::pack(right));
    }
  }
  record_checked(instruction);
}

} // namespace cudasim::engine::testing
