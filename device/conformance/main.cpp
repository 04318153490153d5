// The contract tests of the device ABI as a program:
//   abi --library=PATH [--options=KEY=VALUE,...] [--seed=N] [--programs=N]
// --seed repeats one random program.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/conformance/support.h"
#include "device/conformance/watchdog.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    bool known = false;
    for (const auto& [flag, name] :
         {std::pair("--library=", "ACCEL_LIBRARY"),
          std::pair("--options=", "ACCEL_OPTIONS"),
          std::pair("--seed=", "ACCEL_SEED"),
          std::pair("--programs=", "ACCEL_PROGRAMS")})
      if (argument.rfind(flag, 0) == 0) {
        setenv(name, argument.c_str() + std::string(flag).size(), 1);
        known = true;
      }
    if (!known) {
      std::fprintf(
          stderr,
          "%s is no flag; there are --library=PATH, --options=KEY=VALUE,..., "
          "--seed=N, --programs=N and gtest's\n",
          argv[i]);
      return 2;
    }
  }
  accelerator::conformance::watch(120);
  const int result = RUN_ALL_TESTS();
  const accel_status status = accelerator::conformance::close_library();
  if (status != ACCEL_OK)
    std::fprintf(
        stderr, "finalize answers %s\n", accelerator::name_of(status).c_str());
  return status == ACCEL_OK ? result : 1;
}
