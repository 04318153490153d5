#include "cudasim/engine/testing/sample_record.h"

#include <cstdio>
#include <cstdlib>

namespace cudasim::engine::testing {
namespace {

int bits_of(Register kind) {
  return kind == Register::kPredicate ? 1
      : kind == Register::k16         ? 16
      : kind == Register::k32         ? 32
                                      : 64;
}

void write_operand(std::FILE* file, const Operand& operand) {
  std::fprintf(
      file,
      "\t%d:%llx",
      bits_of(operand.kind),
      static_cast<unsigned long long>(operand.value));
}

} // namespace

void record_sample(
    const std::string& instruction,
    const std::string& code,
    const std::string& format,
    Bits expected,
    const Operand& before,
    const std::vector<Operand>& sources) {
  static std::FILE* const file = [] {
    const char* path = std::getenv("CUDASIM_SAMPLES");
    return path == nullptr ? nullptr : std::fopen(path, "a");
  }();
  if (file == nullptr) {
    return;
  }
  std::string line = code; // several instructions may be on several lines
  for (char& letter : line) {
    letter = letter == '\n' || letter == '\t' ? ' ' : letter;
  }
  std::fprintf(
      file,
      "%s\t%s\t%s\t%llx",
      instruction.c_str(),
      line.c_str(),
      format.c_str(),
      static_cast<unsigned long long>(expected));
  write_operand(file, before);
  for (const Operand& source : sources) {
    write_operand(file, source);
  }
  std::fputc('\n', file);
}

} // namespace cudasim::engine::testing
