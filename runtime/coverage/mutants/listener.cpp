// Tells the calls of each GoogleTest test from those of the others.
#include <gtest/gtest.h>

#include <string>

#include "runtime/coverage/mutants/hooks.h"

namespace accelerator::coverage {
namespace {

class Listener : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    write_calls(
        std::string(test.test_suite_name()) + "." + test.name(),
        test.result()->Passed());
  }
};

const bool added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();

} // namespace
} // namespace accelerator::coverage
