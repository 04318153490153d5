#include "device/conformance/watchdog.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace accelerator::conformance {
namespace {

std::atomic<uint64_t> signs = 0;
std::mutex mutex;
std::string current; // The test that runs.

class Listener : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    std::lock_guard<std::mutex> lock(mutex);
    current = std::string(test.test_suite_name()) + "." + test.name();
    still_going();
  }
};

} // namespace

void still_going() {
  ++signs;
}

void watch(int seconds) {
  testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  std::thread([seconds] {
    uint64_t last = signs;
    for (int quiet = 0; quiet < seconds; ++quiet) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      if (signs != last)
        quiet = -1;
      last = signs;
    }
    std::lock_guard<std::mutex> lock(mutex);
    std::fprintf(
        stderr,
        "[  FAILED  ] %s hangs: nothing for %d seconds\n",
        current.c_str(),
        seconds);
    std::_Exit(1);
  }).detach();
}

} // namespace accelerator::conformance
