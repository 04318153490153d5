// Random modules whose functions call each other, as they are and optimized:
// each thread has to write the same words.
//
// CUDASIM_FUZZ_SEED and CUDASIM_FUZZ_MODULES choose others, and more;
// CUDASIM_FUZZ_PRINT writes their text.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cudasim/engine/optimization/optimizer.h"
#include "cudasim/engine/optimization/testing/comparison.h"
#include "cudasim/engine/optimization/testing/random_module.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine::optimization {
namespace {

/// What there is in a kernel.
struct Found {
  std::size_t calls = 0;
  std::size_t accesses = 0; // to local memory, not generic ones

  void add(const ptx::Function& function) {
    for (const ptx::Statement& statement : function.body) {
      if (statement.instruction == nullptr) {
        continue;
      }
      const ptx::Instruction& instruction = *statement.instruction;
      calls += instruction.call != nullptr;
      const auto& modifiers = instruction.modifiers;
      accesses += !modifiers.empty() && modifiers[0] == "local";
    }
  }
};

/// What became of kernels.
struct Gain {
  unsigned calls = 0; // modules of which the kernel has fewer
  unsigned accesses = 0;

  void add(const std::string& text) {
    const auto module = ptx::parse_module(
        ".version 8.4\n.target sm_90\n.address_size 64\n" + text, "random.ptx");
    auto& kernel = const_cast<ptx::Function&>(*module->find("kernel"));
    const auto shorter = optimized(*module, kernel);
    Found ours;
    ours.add(kernel);
    Found theirs;
    theirs.add(shorter != nullptr ? *shorter : kernel);
    calls += theirs.calls < ours.calls;
    accesses += theirs.accesses < ours.accesses;
  }
};

TEST(RandomFunctions, AreTheSameOptimized) {
  const unsigned first = testing::fuzz_setting("CUDASIM_FUZZ_SEED", 1);
  const unsigned count = testing::fuzz_setting("CUDASIM_FUZZ_MODULES", 200);
  Gain gain;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const std::string text = random_functions::random_module(seed);
    if (std::getenv("CUDASIM_FUZZ_PRINT") != nullptr) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    }
    if (!expect_same(
            text, random_functions::kColumns, "seed " + std::to_string(seed))) {
      return;
    }
    gain.add(text);
  }
  RecordProperty("modules_calls", static_cast<int>(gain.calls));
  RecordProperty("modules_accesses", static_cast<int>(gain.accesses));
  EXPECT_GT(3 * gain.calls, count) << "modules with fewer calls";
  EXPECT_GT(4 * gain.accesses, count) << "modules with fewer accesses";
}

} // namespace
} // namespace cudasim::engine::optimization
