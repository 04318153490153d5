// What the lanes of a warp do together: shuffles, votes, matches, reductions.
// Each runs under masks of members, against loops over the lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

/// A result that PTX leaves open.
constexpr Bits kAny = ~Bits{0};

/// What a lane has: its sources, and those of all others.
struct Warp {
  U32 members;
  /// sources[k][lane]
  std::vector<std::vector<Bits>> sources;
  bool is_member(int lane) const {
    return (members >> lane & 1) != 0;
  }
};

/// Runs code for the members of each warp and compares what a lane gets.
/// @param code with $m, the mask of members. @param results kinds of $d0, $d1.
/// @param expected results of a lane of a warp.
void check_warps(
    const std::string& instruction,
    const std::string& code,
    const std::vector<Register>& results,
    const std::vector<Column>& sources,
    const std::function<std::vector<Bits>(const Warp&, int lane)>& expected) {
  Experiment experiment;
  // The mask is the last source: every lane reads its warp's.
  experiment.active = sample_masks();
  experiment.sources = sources;
  Column members{Register::k32, std::vector<Bits>(kSamples)};
  for (std::size_t i = 0; i < kSamples; ++i) {
    members.values[i] = experiment.active[i / 32];
  }
  experiment.sources.push_back(members);
  for (const Register kind : results) {
    experiment.results.push_back({kind, std::vector<Bits>(kSamples, 1)});
  }
  experiment.code = code;
  const std::size_t at = experiment.code.find("$m");
  if (at != std::string::npos) {
    experiment.code.replace(at, 2, "$" + std::to_string(sources.size()));
  }
  const std::vector<Column> is = run_experiment(experiment);
  if (is.empty()) {
    return;
  }
  Differences differences(instruction);
  for (std::size_t first = 0; first < kSamples; first += 32) {
    Warp warp{experiment.active[first / 32], {}};
    for (const Column& source : sources) {
      warp.sources.emplace_back(
          source.values.begin() + static_cast<std::ptrdiff_t>(first),
          source.values.begin() + static_cast<std::ptrdiff_t>(first + 32));
    }
    for (int lane = 0; lane < 32; ++lane) {
      const std::size_t i = first + static_cast<std::size_t>(lane);
      const std::vector<Bits> right = warp.is_member(lane)
          ? expected(warp, lane)
          : std::vector<Bits>(results.size(), 1);
      for (std::size_t k = 0; k < results.size(); ++k) {
        if (right[k] != kAny && is[k].values[i] != right[k]) {
          differences.add(
              {warp.members, static_cast<Bits>(lane)},
              "result " + std::to_string(k),
              is[k].values[i],
              right[k]);
        }
      }
    }
  }
  record_checked(instruction);
}

/// A value for each lane of each warp, of which few are different.
Column few_values(Register kind, Bits count) {
  Column column{kind, sample(Register::k32, integer_edges(32), 17)};
  for (std::size_t i = 0; i < kSamples; ++i) {
    // Every fourth warp has one value.
    column.values[i] = i / 32 % 4 == 3 ? 7 : column.values[i] % count;
    if (kind == Register::k64) {
      column.values[i] |= column.values[i] << 32;
    }
  }
  return column;
}
Column any_values(Register kind, unsigned salt) {
  return {kind, sample(kind, integer_edges(32), salt)};
}

/// The loop of PTX ISA 9.7.9.6 (shfl.sync) for one lane.
std::pair<int, bool> shuffle_source(
    const std::string& mode,
    int lane,
    U32 b,
    U32 c) {
  const int value = static_cast<int>(b & 31);
  const int clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>(c >> 8 & 31);
  const int last = (lane & segment) | (clamp & (31 & ~segment));
  const int first = lane & segment;
  if (mode == "up") {
    return lane - value >= last ? std::make_pair(lane - value, true)
                                : std::make_pair(lane, false);
  }
  const int from = mode == "down" ? lane + value
      : mode == "bfly"            ? lane ^ value
                                  : first | (value & (31 & ~segment));
  return from <= last ? std::make_pair(from, true)
                      : std::make_pair(lane, false);
}

TEST(Collective, ShufflesWithinSegments) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    const std::string key = "shfl.sync." + mode + ".b32";
    // Widths of 32, 16, 8 and 2 as __shfl_sync makes them, and one that is no
    // power of two.
    for (const U32 segment : {0u, 0x10u, 0x18u, 0x1eu, 0x0au}) {
      const U32 c = segment << 8 | (mode == "up" ? 0 : 31);
      for (const bool with_predicate : {true, false}) {
        check_warps(
            key,
            with_predicate
                ? key + " $d0|$d1, $0, $1, " + std::to_string(c) + ", $m;\n"
                : "{\n" + key + " $d0, $0, $1, " + std::to_string(c) +
                    ", $m;\nmov.pred $d1, 1;\n}\n",
            {Register::k32, Register::kPredicate},
            {any_values(Register::k32, 1), any_values(Register::k32, 2)},
            [&](const Warp& warp, int lane) -> std::vector<Bits> {
              const auto [from, inside] = shuffle_source(
                  mode,
                  lane,
                  static_cast<U32>(
                      warp.sources[1][static_cast<std::size_t>(lane)]),
                  c);
              // A GPU gives zero for a lane that is no member.
              return {
                  warp.is_member(from)
                      ? warp.sources[0][static_cast<std::size_t>(from)]
                      : 0,
                  !with_predicate || inside};
            });
      }
    }
  }
}

/// Of the members of a warp: how many have their predicate set.
int count_set(const Warp& warp) {
  int count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    count += warp.is_member(lane) &&
        warp.sources[0][static_cast<std::size_t>(lane)] != 0;
  }
  return count;
}

/// Predicates: of every fourth warp all, of another none.
Column predicates() {
  Column column = any_values(Register::kPredicate, 4);
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::size_t kind = i / 32 % 4;
    column.values[i] = kind == 1 ? 1 : kind == 2 ? 0 : column.values[i];
  }
  return column;
}

TEST(Collective, Votes) {
  const auto check_vote = [](const std::string& mode, auto accept) {
    const std::string key = "vote.sync." + mode + ".pred";
    for (const bool inverted : {false, true}) {
      check_warps(
          key,
          key + " $d0, " + (inverted ? "!" : "") + "$0, $m;",
          {Register::kPredicate},
          {predicates()},
          [&](const Warp& warp, int) -> std::vector<Bits> {
            const int all = __builtin_popcount(warp.members);
            const int set = count_set(warp);
            return {accept(inverted ? all - set : set, all) ? Bits{1} : 0};
          });
    }
  };
  check_vote("all", [](int set, int all) { return set == all; });
  check_vote("any", [](int set, int) { return set != 0; });
  check_vote("uni", [](int set, int all) { return set == 0 || set == all; });
  check_warps(
      "vote.sync.ballot.b32",
      "vote.sync.ballot.b32 $d0, $0, $m;",
      {Register::k32},
      {predicates()},
      [](const Warp& warp, int) -> std::vector<Bits> {
        Bits ballot = 0;
        for (int lane = 0; lane < 32; ++lane) {
          ballot |= (warp.is_member(lane)
                         ? warp.sources[0][static_cast<std::size_t>(lane)]
                         : 0)
              << lane;
        }
        return {ballot};
      });
}

TEST(Collective, ActivemaskIsTheLanesThatAreHere) {
  check_warps(
      "activemask.b32",
      "activemask.b32 $d0;",
      {Register::k32},
      {},
      [](const Warp& warp, int) -> std::vector<Bits> {
        return {warp.members};
      });
}

U32 lanes_like(const Warp& warp, Bits value) {
  U32 mask = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (warp.is_member(lane) &&
        warp.sources[0][static_cast<std::size_t>(lane)] == value) {
      mask |= 1u << lane;
    }
  }
  return mask;
}

TEST(Collective, Matches) {
  for (const Register kind : {Register::k32, Register::k64}) {
    const std::string type = kind == Register::k32 ? ".b32" : ".b64";
    const std::string any = "match.any.sync" + type;
    check_warps(
        any,
        any + " $d0, $0, $m;",
        {Register::k32},
        {few_values(kind, 5)},
        [](const Warp& warp, int lane) -> std::vector<Bits> {
          return {lanes_like(
              warp, warp.sources[0][static_cast<std::size_t>(lane)])};
        });
    const std::string all = "match.all.sync" + type;
    check_warps(
        all,
        all + " $d0|$d1, $0, $m;",
        {Register::k32, Register::kPredicate},
        {few_values(kind, 2)},
        [](const Warp& warp, int lane) -> std::vector<Bits> {
          const bool same =
              lanes_like(
                  warp, warp.sources[0][static_cast<std::size_t>(lane)]) ==
              warp.members;
          return {same ? warp.members : 0u, same ? 1u : 0u};
        });
  }
}

template <typename T, typename F>
void check_reduction(
    const std::string& operation,
    const std::string& type,
    F combine) {
  const std::string key = "redux.sync." + operation + "." + type;
  check_warps(
      key,
      key + " $d0, $0, $m;",
      {Register::k32},
      {any_values(Register::k32, 3)},
      [&](const Warp& warp, int) -> std::vector<Bits> {
        bool first = true;
        T result = 0;
        for (int lane = 0; lane < 32; ++lane) {
          if (warp.is_member(lane)) {
            const auto value =
                static_cast<T>(warp.sources[0][static_cast<std::size_t>(lane)]);
            result = first ? value : combine(result, value);
            first = false;
          }
        }
        return {static_cast<U32>(result)};
      });
}

/// Of floats: the extreme number of the members, -0 being less than +0.
TEST(Collective, ReductionsOfFloats) {
  const std::vector<Bits> edges = float_edges(32);
  for (const std::string operation : {"min", "max"}) {
    for (const bool magnitudes : {false, true}) {
      for (const bool keeps_nan : {false, true}) {
        const std::string key = "redux.sync." + operation +
            (magnitudes ? ".abs" : "") + (keeps_nan ? ".NaN" : "") + ".f32";
        Column values{Register::k32, sample(Register::k32, edges, 5)};
        // Every other warp has no NaN, and every eighth nothing else.
        for (std::size_t i = 0; i < kSamples; ++i) {
          const auto x = bits_to<float>(static_cast<U32>(values.values[i]));
          if (i / 32 % 8 == 7) {
            values.values[i] = 0x7fc00001;
          } else if (i / 32 % 2 == 0 && std::isnan(x)) {
            values.values[i] = i % 2 == 0 ? 0x80000000 : 0;
          }
        }
        check_warps(
            key,
            key + " $d0, $0, $m;",
            {Register::k32},
            {values},
            [&](const Warp& warp, int) -> std::vector<Bits> {
              std::vector<float> numbers;
              bool nan = false;
              for (int lane = 0; lane < 32; ++lane) {
                const auto x = bits_to<float>(static_cast<U32>(
                    warp.sources[0][static_cast<std::size_t>(lane)]));
                if (warp.is_member(lane)) {
                  nan |= std::isnan(x);
                  if (!std::isnan(x)) {
                    numbers.push_back(magnitudes ? std::fabs(x) : x);
                  }
                }
              }
              if (numbers.empty() || (nan && keeps_nan)) {
                return {0x7fffffff};
              }
              const auto [least, most] = std::minmax_element(
                  numbers.begin(), numbers.end(), [](float a, float b) {
                    return a < b ||
                        (a == b && std::signbit(a) && !std::signbit(b));
                  });
              return {bits_to<U32>(operation == "min" ? *least : *most)};
            });
      }
    }
  }
}

TEST(Collective, Reductions) {
  using S32 = std::int32_t;
  check_reduction<U32>("add", "u32", [](U32 a, U32 b) { return a + b; });
  check_reduction<S32>("add", "s32", [](S32 a, S32 b) {
    return static_cast<S32>(static_cast<U32>(a) + static_cast<U32>(b));
  });
  check_reduction<U32>(
      "min", "u32", [](U32 a, U32 b) { return std::min(a, b); });
  check_reduction<S32>(
      "min", "s32", [](S32 a, S32 b) { return std::min(a, b); });
  check_reduction<U32>(
      "max", "u32", [](U32 a, U32 b) { return std::max(a, b); });
  check_reduction<S32>(
      "max", "s32", [](S32 a, S32 b) { return std::max(a, b); });
  check_reduction<U32>("and", "b32", [](U32 a, U32 b) { return a & b; });
  check_reduction<U32>("or", "b32", [](U32 a, U32 b) { return a | b; });
  check_reduction<U32>("xor", "b32", [](U32 a, U32 b) { return a ^ b; });
}

TEST(Collective, ElectChoosesOneMember) {
  check_warps(
      "elect.sync",
      "elect.sync $d0|$d1, $m;",
      {Register::k32, Register::kPredicate},
      {},
      [](const Warp& warp, int lane) -> std::vector<Bits> {
        // PTX does not say which; here it is the first.
        const int leader = __builtin_ctz(warp.members);
        return {static_cast<Bits>(leader), lane == leader ? Bits{1} : 0};
      });
}

} // namespace
} // namespace cudasim::engine::testing
