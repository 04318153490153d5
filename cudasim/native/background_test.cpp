// Jobs, their owners, children of fork() and the end of the process.
#include "cudasim/native/background.h"
#include "tools/cc/eventually.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace cudasim::native {
namespace {

void sleep_for_a_moment() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

TEST(Background, ExecutesJobsInOrder) {
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    Background::instance().add(&order, [&order, i] { order.push_back(i); });
  }
  Background::instance().wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Background, ExecutesWhatTheBudgetAllowsFirst) {
  constexpr std::uint64_t kMillennia = std::uint64_t{1} << 62;
  std::vector<int> order;
  std::atomic<bool> executed{false};
  Background& all = Background::instance();
  all.add(&order, [&order] { order.push_back(1); }, kMillennia);
  all.add(&order, [&] {
    order.push_back(2);
    executed = true;
  });
  ASSERT_TRUE(tools::eventually([&] { return executed.load(); }));
  all.wait();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST(Background, SpendsWhatWasSaved) {
  constexpr std::uint64_t kYear = std::uint64_t{1} << 55;
  std::atomic<bool> executed{false};
  Background& all = Background::instance();
  all.budget().saved(2 * kYear);
  all.add(&executed, [&] { executed = true; }, kYear);
  ASSERT_TRUE(tools::eventually([&] { return executed.load(); }));
  all.wait();
}

TEST(Background, ForgetsJobsOfAnOwner) {
  int mine = 0;
  int other = 0;
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  Background& all = Background::instance();
  all.add(&mine, [&] {
    begun = true;
    sleep_for_a_moment();
    ended = true;
  });
  all.add(&mine, [&] { mine = 1; });
  all.add(&other, [&] { other = 1; });
  ASSERT_TRUE(tools::eventually([&] { return begun.load(); }));
  all.forget(&mine);
  EXPECT_TRUE(ended); // the one that was being executed
  all.wait();
  EXPECT_EQ(mine, 0);
  EXPECT_EQ(other, 1);
}

TEST(Background, ForgetsJobsThatAJobAdds) {
  int owner = 0;
  std::atomic<bool> begun{false};
  std::atomic<int> executed{0};
  Background& all = Background::instance();
  all.add(&owner, [&] {
    begun = true;
    sleep_for_a_moment();
    all.add(&owner, [&] { ++executed; });
  });
  ASSERT_TRUE(tools::eventually([&] { return begun.load(); }));
  all.forget(&owner);
  all.wait();
  EXPECT_EQ(executed, 0);
}

TEST(Background, HasNoThreadInAChild) {
  Background& all = Background::instance();
  std::atomic<bool> begun{false};
  all.add(&begun, [&] {
    begun = true;
    sleep_for_a_moment();
  });
  ASSERT_TRUE(tools::eventually([&] { return begun.load(); }));
  const pid_t child = fork();
  if (child == 0) {
    int owner = 0;
    all.add(&owner, [&] { owner = 1; });
    all.forget(&owner);
    all.wait();
    std::exit(owner); // runs what atexit was given
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  all.wait();
}

TEST(BackgroundDeathTest, ExitWaitsForAJob) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::atomic<bool> begun{false};
        Background& all = Background::instance();
        all.add(&begun, [] {
          begun = true;
          sleep_for_a_moment();
          std::fputs("the job has ended\n", stderr);
        });
        all.add(&begun, [] { std::fputs("another job\n", stderr); });
        while (!begun) {
          std::this_thread::yield();
        }
        std::exit(3);
      },
      ::testing::ExitedWithCode(3),
      "^the job has ended\n$");
}

} // namespace
} // namespace cudasim::native
