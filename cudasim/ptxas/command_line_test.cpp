// What Triton, inductor and nvcc write, and what ptxas refuses.
#include "cudasim/ptxas/command_line.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace cudasim::ptxas {
namespace {

std::string refused(const std::vector<std::string>& arguments) {
  try {
    parse_command_line(arguments);
  } catch (const CommandLineError& error) {
    return error.what();
  }
  return "";
}

TEST(CommandLine, IsTakenAsTritonWritesIt) {
  const auto line = parse_command_line(
      {"-lineinfo",
       "--fmad=false",
       "-v",
       "--opt-level",
       "0",
       "--gpu-name=sm_90a",
       "in.ptx",
       "-o",
       "in.ptx.o"});
  EXPECT_EQ(line.input, "in.ptx");
  EXPECT_EQ(line.output, "in.ptx.o");
  EXPECT_FALSE(line.version);
}

TEST(CommandLine, IsTakenAsTriton3_9WritesIt) {
  const auto line = parse_command_line(
      {"-lineinfo",
       "-v",
       "--regAllocOptLevel=2",
       "--opt-level",
       "1",
       "--gpu-name=sm_80",
       "in.ptx",
       "-o",
       "in.ptx.o"});
  EXPECT_EQ(line.input, "in.ptx");
  EXPECT_EQ(line.output, "in.ptx.o");
}

TEST(CommandLine, OptionsOfCuda13ThatOnlyTuneAreTaken) {
  for (const char* option :
       {"-regAllocOptLevel=1",
        "--register-usage-level=7",
        "-func-maxrregcount=64",
        "--maxntid=128,1,1",
        "--dont-merge-basicblocks",
        "--jobserver",
        "-opt-fp-atomics",
        "--device-stack-protector=true",
        "-pic"}) {
    EXPECT_EQ(parse_command_line({option, "a.ptx"}).input, "a.ptx") << option;
  }
  for (const char* option : {"-pic", "--allow-expensive-optimizations"}) {
    EXPECT_EQ(parse_command_line({option, "false", "a.ptx"}).input, "a.ptx");
  }
}

TEST(CommandLine, OptionsOfCuda13ThatChangeProgramsAreRefusedByName) {
  for (const std::string option :
       {"--sanitize",
        "-legacy-bar-warp-wide-behavior",
        "--input-as-string",
        "--list-arch"}) {
    EXPECT_EQ(
        refused({option, "memcheck"}),
        "option '" + option + "' is not supported by the simulated device");
  }
}

TEST(CommandLine, IsTakenAsInductorAndNvccWriteIt) {
  const auto line = parse_command_line(
      {"-m64", "-arch=sm_80", "-O3", "--output-file=a.cubin", "a.ptx"});
  EXPECT_EQ(line.output, "a.cubin");
  EXPECT_EQ(parse_command_line({"a.ptx"}).output, "elf.o");
}

TEST(CommandLine, QuestionsNeedNoFile) {
  EXPECT_TRUE(parse_command_line({"--version"}).version);
  EXPECT_TRUE(parse_command_line({"-V"}).version);
  EXPECT_TRUE(parse_command_line({"--help"}).help);
}

TEST(CommandLine, FilesHoldOptionsToo) {
  const std::string file = testing::TempDir() + "/options";
  std::ofstream(file) << "-o\nb.cubin  b.ptx";
  const auto line = parse_command_line({"--options-file", file});
  EXPECT_EQ(line.input, "b.ptx");
  EXPECT_EQ(line.output, "b.cubin");
  std::ofstream(file) << "-optf " << file;
  EXPECT_EQ(
      refused({"-optf=" + file}),
      "options files name each other: '" + file + "'");
}

TEST(CommandLine, RefusesWhatPtxasRefuses) {
  EXPECT_EQ(refused({"-v"}), "No input file specified; use option --help");
  EXPECT_EQ(refused({"a.ptx", "--wrong=1"}), "Unknown option '--wrong'");
  EXPECT_EQ(refused({"a.ptx", "-O9"}), "Unknown option '-O9'");
  EXPECT_EQ(refused({"a.ptx", "-o"}), "option '-o' needs a value");
  EXPECT_EQ(
      refused({"a.ptx", "b.ptx"}),
      "more than one input file ('a.ptx', 'b.ptx')");
  EXPECT_EQ(refused({"-optf", "none"}), "Could not open file 'none'");
}

} // namespace
} // namespace cudasim::ptxas
