// How the environment's values are read.
#include "cudasim/backend/machine/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "cudasim/backend/machine/gpu_models.h"
#include "device/host/environment.h"

namespace cudasim::backend {
namespace {

using accelerator::host::parse_size;

std::string message_of(const std::string& options) {
  try {
    read_settings(options);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "was accepted";
}

TEST(Settings, SizesHaveUnitsOf1024) {
  EXPECT_EQ(parse_size("512M"), std::uint64_t{512} << 20);
  EXPECT_EQ(parse_size("8GiB"), std::uint64_t{8} << 30);
  EXPECT_EQ(parse_size("123"), 123u);
  for (const char* bad : {"", "0", "-1", "8X", "8Gx", "999999T"}) {
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
  }
}

TEST(Settings, AWrongValueIsNamedWithWhatIsAllowed) {
  setenv("CUDASIM_PROFILE", "sm_35", 1);
  EXPECT_EQ(
      message_of(""),
      "CUDASIM_PROFILE=sm_35 is not allowed: write sm_75, sm_80, "
      "sm_86, sm_89, sm_90, sm_100, sm_103 or sm_120");
  unsetenv("CUDASIM_PROFILE");
}

std::string name_with(const char* model, const char* name) {
  setenv("CUDASIM_PROFILE", model, 1);
  setenv("CUDASIM_NAME", name, 1);
  const accel_properties properties = make_properties(read_settings(""), 0);
  unsetenv("CUDASIM_NAME");
  unsetenv("CUDASIM_PROFILE");
  return properties.name;
}

TEST(Settings, TheNameIsTheSimulatorsTheModelsOrTheUsers) {
  for (const char* model :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120"}) {
    EXPECT_EQ(name_with(model, ""), std::string("cudasim ") + model);
    const std::string name = name_with(model, "model");
    EXPECT_EQ(name.rfind("NVIDIA ", 0), 0u) << name;
    // Nobody is to take it for the GPU itself.
    EXPECT_NE(name.find("(simulated)"), std::string::npos) << name;
    EXPECT_EQ(name_with(model, "Tesla V100"), "Tesla V100");
  }
  EXPECT_EQ(name_with("sm_75", "model"), "Tesla T4 (simulated)");
  EXPECT_EQ(name_with("sm_80", std::string(255, 'x').c_str()).size(), 255u);
  setenv("CUDASIM_NAME", std::string(256, 'x').c_str(), 1);
  EXPECT_EQ(
      message_of(""),
      "CUDASIM_NAME=" + std::string(256, 'x') +
          " is not allowed: write model, or a name of at most 255 characters");
  unsetenv("CUDASIM_NAME");
}

// CUDA programming guide, "Technical Specifications per Compute Capability".
TEST(Settings, AModelHasTheFiguresOfItsComputeCapability) {
  const struct {
    const char* model;
    int major, minor, threads;
    std::uint64_t shared, shared_of_block;
  } kDocumented[] = {
      {"sm_75", 7, 5, 1024, 64 << 10, 64 << 10},
      {"sm_80", 8, 0, 2048, 164 << 10, 163 << 10},
      {"sm_86", 8, 6, 1536, 100 << 10, 99 << 10},
      {"sm_89", 8, 9, 1536, 100 << 10, 99 << 10},
      {"sm_90", 9, 0, 2048, 228 << 10, 227 << 10},
      {"sm_100", 10, 0, 2048, 228 << 10, 227 << 10},
      {"sm_103", 10, 3, 2048, 228 << 10, 227 << 10},
      {"sm_120", 12, 0, 1536, 100 << 10, 99 << 10}};
  for (const auto& due : kDocumented) {
    setenv("CUDASIM_PROFILE", due.model, 1);
    const accel_properties its = make_properties(read_settings(""), 0);
    unsetenv("CUDASIM_PROFILE");
    EXPECT_EQ(its.major, due.major) << due.model;
    EXPECT_EQ(its.minor, due.minor) << due.model;
    EXPECT_EQ(its.threads_per_multiprocessor, due.threads) << due.model;
    EXPECT_EQ(its.shared_per_multiprocessor, due.shared) << due.model;
    EXPECT_EQ(its.shared_per_block_optin, due.shared_of_block) << due.model;
  }
}

// The same table: residency controls of L2 exist since 8.0.
TEST(Settings, OnlyModelsWithResidencyControlsSetCacheAside) {
  for (const char* model : {"sm_75", "sm_80", "sm_86", "sm_103"}) {
    setenv("CUDASIM_PROFILE", model, 1);
    const accel_properties its = make_properties(read_settings(""), 0);
    unsetenv("CUDASIM_PROFILE");
    const bool has = its.major >= 8;
    EXPECT_EQ(its.persisting_l2_bytes > 0, has) << model;
    EXPECT_EQ(its.access_window_bytes > 0, has) << model;
    EXPECT_LE(its.persisting_l2_bytes, its.l2_bytes) << model;
  }
}

TEST(Settings, ALaunchIsCheckedOrCounted) {
  setenv("CUDASIM_COUNT", "counts.tsv", 1);
  EXPECT_EQ(read_settings("").count_file, "counts.tsv");
  setenv("CUDASIM_CHECK", "1", 1);
  EXPECT_EQ(
      message_of(""),
      "CUDASIM_COUNT=counts.tsv is not allowed: unset it, or CUDASIM_CHECK: a "
      "launch is checked or counted");
  unsetenv("CUDASIM_CHECK");
  unsetenv("CUDASIM_COUNT");
}

TEST(Settings, OptimizationIsOnOrOff) {
  setenv("CUDASIM_OPTIMIZE", "on", 1);
  EXPECT_EQ(message_of(""), "CUDASIM_OPTIMIZE=on is not allowed: write 0 or 1");
  unsetenv("CUDASIM_OPTIMIZE");
}

TEST(Settings, TargetsAreLookedAtOrNot) {
  setenv("CUDASIM_PTX_TARGETS", "loose", 1);
  EXPECT_EQ(
      message_of(""),
      "CUDASIM_PTX_TARGETS=loose is not allowed: write strict or lenient");
  unsetenv("CUDASIM_PTX_TARGETS");
}

TEST(Settings, PaddingIsReadOrAFault) {
  EXPECT_FALSE(read_settings("").padding);
  setenv("CUDASIM_PADDING", "read", 1);
  EXPECT_TRUE(read_settings("").padding);
  setenv("CUDASIM_PADDING", "1", 1);
  EXPECT_EQ(
      message_of(""), "CUDASIM_PADDING=1 is not allowed: write fault or read");
  unsetenv("CUDASIM_PADDING");
}

TEST(Settings, NativeCodeThatCannotBeMadeIsRefused) {
  setenv("CUDASIM_NATIVE", "yes", 1);
  EXPECT_EQ(
      message_of(""),
      "CUDASIM_NATIVE=yes is not allowed: write off, auto or always");
  setenv("CUDASIM_NATIVE", "", 1);
  EXPECT_EQ(message_of(""), "was accepted");
  setenv("CUDASIM_NATIVE", "always", 1);
  setenv("CUDASIM_CHECK", "1", 1);
  EXPECT_EQ(
      message_of(""),
      "CUDASIM_NATIVE=always is not allowed: unset it, or CUDASIM_CHECK and "
      "CUDASIM_COUNT, which interpret");
  unsetenv("CUDASIM_CHECK");
  // This file is no library.
  setenv("CUDASIM_LLVM", __FILE__, 1);
  const std::string message = message_of("");
  EXPECT_EQ(message.find("CUDASIM_NATIVE=always "), 0u) << message;
  EXPECT_TRUE(
      message.find("cannot load LLVM: ") != std::string::npos ||
      message.find("needs AVX2 and FMA") != std::string::npos)
      << message;
  // Regions that are worth it, where they can be: else they are interpreted.
  setenv("CUDASIM_NATIVE", "auto", 1);
  EXPECT_EQ(message_of(""), "was accepted");
  unsetenv("CUDASIM_NATIVE");
  unsetenv("CUDASIM_LLVM");
}

TEST(Settings, TheOptionCountTakesThePlaceOfTheVariable) {
  setenv("CUDASIM_DEVICES", "5", 1);
  EXPECT_EQ(read_settings("").devices, 5);
  EXPECT_EQ(read_settings("count=2").devices, 2);
  unsetenv("CUDASIM_DEVICES");
  for (const char* wrong :
       {"count=", "count=-1", "count=17", "count=2x", "memory=3", "2"}) {
    EXPECT_NE(message_of(wrong).find(wrong), std::string::npos) << wrong;
  }
}

} // namespace
} // namespace cudasim::backend
