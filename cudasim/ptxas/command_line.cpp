#include "cudasim/ptxas/command_line.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace cudasim::ptxas {
namespace {

// Constants, not objects with constructors: see linkopts of :ptxas.

// With a value, which stands behind them or behind "=".
constexpr std::string_view kValued[] = {
    "-o",
    "-O",
    "-arch",
    "-m",
    "-dlcm",
    "-dscm",
    "-fdlcm",
    "-fdscm",
    "-fmad",
    "-maxrregcount",
    "-fastimul",
    "-lineinfo-file",
    "-optf",
    "-split-compile",
    "--output-file",
    "--opt-level",
    "--gpu-name",
    "--machine",
    "--def-load-cache",
    "--def-store-cache",
    "--force-load-cache",
    "--force-store-cache",
    "--fmad",
    "--maxrregcount",
    "--options-file",
    "--split-compile",
    "--Ofast-compile",
    "-Ofc",
    // CUDA 13's, and one that its --help does not tell and Triton 3.9 writes.
    "-apply-controls",
    "-e",
    "-flcm",
    "-fscm",
    "-func-maxrregcount",
    "-maxntid",
    "-minnctapersm",
    "-regAllocOptLevel",
    "-regUsageLevel",
    "--apply-controls",
    "--device-function-maxrregcount",
    "--entry",
    "--maxntid",
    "--minnctapersm",
    "--regAllocOptLevel",
    "--register-usage-level"};

// With "true" or "false", or alone, as some were before CUDA 13.
constexpr std::string_view kBoolean[] = {
    "-allow-expensive-optimizations",
    "-device-stack-protector",
    "-enable-func-clone-sc",
    "-pic",
    "--allow-expensive-optimizations",
    "--device-stack-protector",
    "--enable-func-clone-sc",
    "--position-independent-code"};

constexpr std::string_view kPlain[] = {
    "-v",
    "-g",
    "-m32",
    "-m64",
    "-c",
    "-w",
    "-lineinfo",
    "-sp-bounds-check",
    "-suppress-debug-info",
    "-suppress-double-demote-warning",
    "-suppress-stack-size-warning",
    "-disable-optimizer-constants",
    "-disable-warnings",
    "-warn-spills",
    "-warn-lmem-usage",
    "-warn-double-usage",
    "-Werror",
    "-ewp",
    "-astoolspatch",
    "--verbose",
    "--device-debug",
    "--compile-only",
    "--generate-line-info",
    "--compile-as-tools-patch",
    "--disable-optimizer-constants",
    "--disable-warnings",
    "--extensible-whole-program",
    "--preserve-relocs",
    "--return-at-end",
    "--sp-bounds-check",
    "--suppress-debug-info",
    "--suppress-double-demote-warning",
    "--suppress-stack-size-warning",
    "--warn-on-double-precision-use",
    "--warn-on-local-memory-usage",
    "--warn-on-spills",
    "--warning-as-error",
    // CUDA 13's.
    "-annotate",
    "-disable-optimizer-consts",
    "-g-tmem-access-check",
    "-gno-fabric-access-check",
    "-gno-tmem-access-check",
    "-jobserver",
    "-make-errors-visible-at-exit",
    "-no-bb-merge",
    "-opt-fp-atomics",
    "-override-directive-values",
    "-preserve-relocs",
    "-ret-end",
    "-suppress-async-bulk-multicast-advisory-warning",
    "-suppress-position-independent-code-warning",
    "-suppress-sparse-mma-advisory-info",
    "-v2",
    "--compiler-annotations",
    "--dont-merge-basicblocks",
    "--g-tensor-memory-access-check",
    "--gno-fabric-access-check",
    "--gno-tensor-memory-access-check",
    "--jobserver",
    "--make-errors-visible-at-exit",
    "--optimize-float-atomics",
    "--override-directive-values",
    "--suppress-async-bulk-multicast-advisory-warning",
    "--suppress-position-independent-code-warning",
    "--suppress-sparse-mma-advisory-info",
    "--verbose2"};

// What a program does depends on them, or what ptxas says.
constexpr std::string_view kRefused[] = {
    "-arch-ls",
    "-ias",
    "-legacy-bar-warp-wide-behavior",
    "-sanitize",
    "-version-ls",
    "--input-as-string",
    "--legacy-bar-warp-wide-behavior",
    "--list-arch",
    "--list-version",
    "--sanitize"};

template <std::size_t kCount>
bool contains(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(names, names + kCount, name) != names + kCount;
}

class Reader {
 public:
  CommandLine read(const std::vector<std::string>& arguments) {
    take(arguments);
    if (!line_.help && !line_.version && line_.input.empty()) {
      throw CommandLineError("No input file specified; use option --help");
    }
    return line_;
  }

 private:
  void take(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      if (argument.empty() || argument[0] != '-') {
        take_input(argument);
        continue;
      }
      if (argument == "--help" || argument == "-h") {
        line_.help = true;
        continue;
      }
      if (argument == "--version" || argument == "-V") {
        line_.version = true;
        continue;
      }
      const std::size_t sign = argument.find('=');
      const std::string name = argument.substr(0, sign);
      if (contains(kValued, name)) {
        if (sign == std::string::npos && ++i == arguments.size()) {
          throw CommandLineError("option '" + name + "' needs a value");
        }
        take_value(
            name,
            sign == std::string::npos ? arguments[i]
                                      : argument.substr(sign + 1));
      } else if (contains(kBoolean, name)) {
        if (sign == std::string::npos && i + 1 < arguments.size() &&
            is_boolean(arguments[i + 1])) {
          ++i;
        }
      } else if (contains(kRefused, name)) {
        throw CommandLineError(
            "option '" + name + "' is not supported by the simulated device");
      } else if (!contains(kPlain, name) && !is_optimization_level(argument)) {
        throw CommandLineError("Unknown option '" + name + "'");
      }
    }
  }

  static bool is_boolean(const std::string& argument) {
    return argument == "true" || argument == "false";
  }

  static bool is_optimization_level(const std::string& argument) {
    return argument.size() == 3 && argument.compare(0, 2, "-O") == 0 &&
        argument[2] >= '0' && argument[2] <= '3';
  }

  void take_input(const std::string& file) {
    if (!line_.input.empty()) {
      throw CommandLineError(
          "more than one input file ('" + line_.input + "', '" + file + "')");
    }
    line_.input = file;
  }

  void take_value(const std::string& name, const std::string& value) {
    if (name == "-o" || name == "--output-file") {
      line_.output = value;
    } else if (name == "-optf" || name == "--options-file") {
      take_file(value);
    }
  }

  void take_file(const std::string& file) {
    if (++depth_ > 16) {
      throw CommandLineError("options files name each other: '" + file + "'");
    }
    std::ifstream stream(file);
    if (!stream) {
      throw CommandLineError("Could not open file '" + file + "'");
    }
    take({std::istream_iterator<std::string>(stream), {}});
    --depth_;
  }

  CommandLine line_;
  int depth_ = 0;
};

} // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  return Reader().read(arguments);
}

} // namespace cudasim::ptxas
