// Verifies all bodies of PTX files, and says what is refused, and what the
// simulated device lacks: a way to try the verifier on what other compilers
// wrote.
//
//   verify_files FILE.ptx…
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "cudasim/engine/code/lowering_error.h"
#include "cudasim/engine/forms/short_forms.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/parser.h"

namespace {

using namespace cudasim;

struct Tally {
  unsigned long functions = 0;
  unsigned long instructions = 0;
  unsigned long unsupported = 0;
  unsigned long refused = 0;
};

void verify(const char* path, Tally& tally) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    const auto module = ptx::parse_module(std::move(text), path);
    engine::verify_module(*module);
    for (const auto& function : module->functions) {
      if (!function->has_body) {
        continue;
      }
      ++tally.functions;
      try {
        engine::read_body(*module, *function);
        const engine::VerifiedBody body =
            engine::verify_body(*module, *function);
        for (const engine::Row* row : body.rows) {
          ++tally.instructions;
          tally.unsupported += row == nullptr ? 1 : 0;
        }
        engine::verify_runs_whole(*module, *function, body);
      } catch (const engine::LoweringError& error) {
        std::printf("%s\n", error.what());
      } catch (const ptx::ParseError& error) {
        ++tally.refused;
        std::printf("%s\n", error.what());
      }
      function->body.clear();
    }
  } catch (const ptx::ParseError& error) {
    ++tally.refused;
    std::printf("%s\n", error.what());
  }
}

} // namespace

int main(int argc, char** argv) {
  Tally tally;
  for (int i = 1; i < argc; ++i) {
    verify(argv[i], tally);
  }
  std::printf(
      "%lu functions, %lu instructions, %lu of them calls or without a row, "
      "%lu refused\n",
      tally.functions,
      tally.instructions,
      tally.unsupported,
      tally.refused);
  return tally.refused == 0 ? 0 : 1;
}
