// Writes instructions from the rows, what fits and what does not, with what the
// verifier says of each: verify/ptxas_test.py asks NVIDIA's assembler the same.
//
//   row_samples SEED COUNT
//
// First what is in front of them, and a form feed; then for each instruction
// "taken" or "refused", a tab, and the instruction.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cudasim/engine/forms/short_forms.h"
#include "cudasim/engine/testing/row_writer.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/parser.h"

namespace {

using namespace cudasim;

const std::string kBefore =
    ".version 9.5\n.target sm_107a\n.address_size 64\n" +
    engine::testing::module_declarations() +
    ".visible .entry kernel(.param .align 16 .b8 in_param[256]) {\n" +
    engine::testing::body_declarations() +
    "LABEL_0: LABEL_1: LABEL_2: LABEL_3:\n";

bool is_taken(const std::string& instruction) {
  try {
    const auto module =
        ptx::parse_module(kBefore + instruction + ";\nret;\n}\n", "sample");
    ptx::Function& function = *module->functions.front();
    engine::read_body(*module, function);
    engine::verify_body(*module, function);
    return true;
  } catch (const ptx::ParseError&) {
    return false;
  }
}

void show(const std::string& instruction) {
  std::printf(
      "%s\t%s\n",
      is_taken(instruction) ? "taken" : "refused",
      instruction.c_str());
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: row_samples SEED COUNT\n", stderr);
    return 2;
  }
  std::printf("%s\f\n", kBefore.c_str());
  engine::testing::RowWriter writer(std::strtoull(argv[1], nullptr, 10));
  const int count = std::atoi(argv[2]);
  for (const auto& row : engine::testing::all_rows()) {
    for (int i = 0; i < count; ++i) {
      show(writer.fitting(row));
    }
    for (const auto& flaw : writer.flawed(row)) {
      show(flaw.instruction);
    }
  }
  return 0;
}
