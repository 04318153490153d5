// Says which bytes variables have, for verify/ptxas/constants_test.py: reads
// declarations of a variable v from standard input, one in a line, and writes
// for each its bytes as hexadecimal digits, or "refused".
#include <cstdio>
#include <iostream>
#include <string>

#include "cudasim/engine/testing/test_device.h"
#include "cudasim/ptx/parser.h"

int main() {
  using namespace cudasim;
  std::string declaration;
  while (std::getline(std::cin, declaration)) {
    try {
      engine::testing::TestDevice device;
      device.load(declaration);
      const engine::Symbol* symbol = device.module().symbol("v");
      const auto* bytes =
          reinterpret_cast<const unsigned char*>(symbol->address);
      for (std::uint64_t i = 0; i < symbol->size; ++i) {
        std::printf("%02x", bytes[i]);
      }
    } catch (const ptx::ParseError&) {
      std::printf("refused");
    }
    std::printf("\n");
  }
  return 0;
}
