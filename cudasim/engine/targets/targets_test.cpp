// What PTX of each target may have, and on which devices it runs. ptxas_test.py
// holds the table against NVIDIA's assembler.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cudasim/engine/module/module.h"
#include "cudasim/engine/targets/requirements.h"
#include "cudasim/engine/targets/target.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine {
namespace {

/// What is said of a module with one instruction; empty when it is taken.
std::string verdict(
    const std::string& head,
    const std::string& instruction,
    std::uint32_t capability = 0) {
  try {
    Module::load(
        head +
            "\n.address_size 64\n.visible .entry k() {\n"
            ".reg .b16 %h;\n.reg .b32 %r;\n.reg .b64 %d;\n.reg .pred %p;\n"
            ".shared .align 8 .b8 s[64];\n" +
            instruction + "\nret;\n}\n",
        "test",
        [](std::uint64_t, std::uint64_t, bool, std::string_view) {
          return std::uint64_t{4096};
        },
        Module::Verify::kAtLoad,
        capability);
    return "";
  } catch (const ptx::ParseError& error) {
    return error.what();
  }
}

// The forms that need sm_90.
const char* const kForms[] = {
    "mbarrier.try_wait.shared.b64 %p, [s], %d;",
    "elect.sync %r|%p, -1;",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r};",
    "add.bf16 %h, %h, %h;",
    "tanh.approx.bf16 %h, %h;",
    "ex2.approx.ftz.bf16 %h, %h;",
    "atom.global.add.noftz.bf16 %h, [%d], %h;",
    "ld.relaxed.cluster.global.u32 %r, [%d];",
    "fence.acq_rel.cluster;",
    "griddepcontrol.wait;",
    "mov.u32 %r, %clusterid.x;",
    "setp.eq.bf16 %p, %h, %h;",
    "fence.proxy.async;",
};

TEST(Targets, HaveWhatTheyHave) {
  for (const std::string form : kForms) {
    const std::string refused = verdict(".version 8.4\n.target sm_80", form);
    EXPECT_NE(
        refused.find("what sm_80 has, and this needs sm_90 or higher"),
        std::string::npos)
        << form << ": " << refused;
    for (const char* head :
         {".version 8.4\n.target sm_90",
          ".version 8.4\n.target sm_90a",
          ".version 9.5\n.target sm_100f",
          ".version 9.5\n.target sm_120"}) {
      EXPECT_EQ(verdict(head, form), "") << head;
    }
  }
}

TEST(Targets, SayWhatWasFoundAndWhatIsNeeded) {
  EXPECT_EQ(
      verdict(".version 8.4\n.target sm_80", "add.bf16 %h, %h, %h;"),
      "test:10:1: found 'add.bf16', expected what sm_80 has, and this needs "
      "sm_90 or higher (CUDASIM_PTX_TARGETS=lenient takes it)");
  EXPECT_EQ(
      verdict(".version 7.8\n.target sm_90", "elect.sync %r|%p, -1;"),
      "test:10:1: found 'elect.sync', expected what PTX 7.8 has, and this "
      "needs 8.0 (CUDASIM_PTX_TARGETS=lenient takes it)");
  EXPECT_EQ(
      verdict(".version 7.0\n.target sm_90", ""),
      "test:2:9: found 'sm_90', expected a target that PTX 7.0 has; this one "
      "needs 7.8");
  EXPECT_EQ(
      verdict(".version 8.4\n.target sm_99", ""),
      "test:2:9: found 'sm_99', expected a target such as sm_80");
  EXPECT_EQ(
      verdict(".version 9.6\n.target sm_80", ""),
      "test:1:10: found '9.6', expected a version of PTX up to 9.5");
  EXPECT_EQ(
      verdict(".version 6.9\n.target sm_75", ""),
      "test:1:10: found '6.9', expected a version of PTX up to 9.5");
  EXPECT_EQ(
      verdict(".version 8.4\n.target sm_90", "", 80),
      "test:2:9: found 'sm_90', expected a target that a GPU of compute "
      "capability 8.0 runs: compile for sm_80, or choose another model by "
      "CUDASIM_PROFILE (CUDASIM_PTX_TARGETS=lenient takes it)");
}

// As ptxas 13.5 assembles them: PTX for one target, of another GPU.
TEST(Targets, RunOnLaterDevicesAsFarAsTheyReach) {
  const struct {
    const char* target;
    std::vector<std::uint32_t> devices;
  } kRuns[] = {
      {"sm_10", {75, 80, 86, 89, 90, 100, 103, 110, 120, 121}},
      {"sm_75", {75, 80, 86, 89, 90, 100, 103, 110, 120, 121}},
      {"sm_80", {80, 86, 89, 90, 100, 103, 110, 120, 121}},
      {"sm_86", {86, 89, 90, 100, 103, 110, 120, 121}},
      {"sm_89", {89, 90, 100, 103, 110, 120, 121}},
      {"compute_90", {90, 100, 103, 110, 120, 121}},
      {"sm_90a", {90}},
      {"sm_100", {100, 103, 110, 120, 121}},
      {"sm_100a", {100}},
      {"sm_100f", {100, 103}},
      {"sm_103f", {103}},
      {"sm_101f", {110}},
      {"sm_110a", {110}},
      {"sm_120f", {120, 121}},
      {"sm_121a", {121}}};
  for (const auto& [name, devices] : kRuns) {
    const Target* target = find_target(name);
    ASSERT_NE(target, nullptr) << name;
    for (const std::uint32_t device :
         {75u, 80u, 86u, 89u, 90u, 100u, 103u, 110u, 120u, 121u}) {
      EXPECT_EQ(
          target->runs_on(device),
          std::count(devices.begin(), devices.end(), device) != 0)
          << name << " on " << device;
    }
  }
  for (const char* none : {"sm_73", "sm_80a", "sm_90f", "sm_", "80", ""}) {
    EXPECT_EQ(find_target(none), nullptr) << none;
  }
}

// What a GPU lacks, its own PTX cannot have, and it runs no other: a model
// refuses each of these instructions in one way or the other.
TEST(Targets, AModelRefusesWhatItLacks) {
  const struct {
    const char* form;
    const char* target; // the oldest that has it
    std::vector<std::uint32_t> devices; // that run it then
  } kRuns[] = {
      {"ex2.approx.f16 %h, %h;", "sm_75", {75, 80, 86, 89, 90, 100, 103, 120}},
      {"cp.async.ca.shared.global [s], [%d], 4;",
       "sm_80",
       {80, 86, 89, 90, 100, 103, 120}},
      {"max.xorsign.abs.f16 %h, %h, %h;", "sm_86", {86, 89, 90, 100, 103, 120}},
      {"cvt.rn.f16x2.e4m3x2 %r, %h;", "sm_89", {89, 90, 100, 103, 120}},
      {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [s], 16;",
       "sm_90",
       {90, 100, 103, 120}},
      {"max.f32 %r, %r, %r, %r;", "sm_100", {100, 103, 120}},
      {"add.f32x2 %d, %d, %d;", "sm_100", {100, 103, 120}},
      {"cvt.rn.bf16x2.ue8m0x2 %r, %h;", "sm_100f", {100, 103}},
      {"cvt.rn.bf16x2.ue8m0x2 %r, %h;", "sm_103a", {103}},
      {"cvt.rn.bf16x2.ue8m0x2 %r, %h;", "sm_120f", {120}},
      {"add.u8x4 %r, %r, %r;", "sm_120a", {120}}};
  for (const auto& [form, target, runs] : kRuns) {
    for (const std::uint32_t device :
         {75u, 80u, 86u, 89u, 90u, 100u, 103u, 120u}) {
      const bool has = std::count(runs.begin(), runs.end(), device) != 0;
      const std::string head = ".version 9.5\n.target ";
      EXPECT_EQ(verdict(head + target, form, device).empty(), has)
          << form << " for " << target << " on " << device;
      if (!has) {
        // For the device's own target it is no instruction.
        EXPECT_NE(
            verdict(head + "sm_" + std::to_string(device), form, device), "")
            << form << " on " << device;
      }
    }
  }
}

TEST(Targets, AreNotLookedAtWhereThatIsAsked) {
  setenv("CUDASIM_PTX_TARGETS", "lenient", 1);
  for (const std::string form : kForms) {
    EXPECT_EQ(verdict(".version 6.0\n.target sm_80", form, 80), "");
  }
  EXPECT_EQ(verdict(".version 8.4\n.target sm_90a", "", 80), "");
  EXPECT_EQ(verdict(".version 9.9\n.target sm_99", "", 80), "");
  EXPECT_NE(verdict(".version 8.4\n.target sm_80", "add.s32 %r;"), "");
  unsetenv("CUDASIM_PTX_TARGETS");
}

} // namespace
} // namespace cudasim::engine
