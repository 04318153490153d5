#include "cudasim/engine/optimization/testing/comparison.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <exception>

#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::optimization {
namespace {

constexpr unsigned kComparedThreads = 64;

} // namespace

WrittenWords run_kernel(
    const char* setting,
    const std::string& text,
    unsigned columns) {
  setenv("CUDASIM_OPTIMIZE", setting, 1);
  WrittenWords written;
  try {
    testing::TestDevice device;
    device.load(text);
    const std::size_t count = std::size_t{kComparedThreads} * columns;
    auto* out = device.zeros<std::uint32_t>(count);
    testing::Shape shape;
    shape.block = {kComparedThreads, 1, 1};
    const Outcome outcome = device.run("kernel", shape, out);
    written.words.assign(out, out + count);
    if (outcome.fault != FaultKind::kNone) {
      written.trouble = outcome.report;
    }
  } catch (const std::exception& error) {
    written.trouble = error.what();
  }
  unsetenv("CUDASIM_OPTIMIZE");
  return written;
}

bool expect_same(
    const std::string& text,
    unsigned columns,
    const std::string& where) {
  const WrittenWords plain = run_kernel("0", text, columns);
  const WrittenWords optimized = run_kernel("1", text, columns);
  EXPECT_EQ(plain.trouble, "") << where << '\n' << text;
  EXPECT_EQ(optimized.trouble, "") << where << '\n' << text;
  if (!plain.trouble.empty() || !optimized.trouble.empty()) {
    return false;
  }
  for (std::size_t i = 0; i < plain.words.size(); ++i) {
    if (plain.words[i] != optimized.words[i]) {
      ADD_FAILURE() << where << ": word " << i % columns << " of thread "
                    << i / columns << " is " << optimized.words[i] << ", not "
                    << plain.words[i] << '\n'
                    << text;
      return false;
    }
  }
  return true;
}

} // namespace cudasim::engine::optimization
