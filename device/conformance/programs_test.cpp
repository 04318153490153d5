// 10,000 random programs against a model. A failure prints the seed of its
// program, which --seed=N repeats; --programs=N runs another number.
#include <cstdlib>
#include <iostream>

#include "device/conformance/program.h"
#include "device/conformance/watchdog.h"

namespace accelerator::conformance {
namespace {

uint64_t variable(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

TEST(Programs, AreDoneAsTheModelSays) {
  const bool one = std::getenv("ACCEL_SEED") != nullptr;
  const uint64_t count = one ? 1 : variable("ACCEL_PROGRAMS", 10000);
  const uint64_t first = variable("ACCEL_SEED", std::random_device()());
  std::cout << count << " programs from seed " << first << '\n' << std::flush;
  std::vector<uint64_t> before;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    // What a device takes for itself at first is no leak.
    if (seed == first + count / 10)
      for (int32_t device = 0; device < devices(); ++device)
        before.push_back(free_memory(device));
    Program program(seed);
    program.run();
    still_going();
    if (HasFailure())
      FAIL() << "to repeat it: --seed=" << seed << "\n" << program.text();
  }
  for (int32_t device = 0; device < devices(); ++device)
    EXPECT_EQ(free_memory(device), before[device]);
}

} // namespace
} // namespace accelerator::conformance
