// Files that processes share, as others find them.
#include "device/host/shared_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <sys/wait.h>
#include <unistd.h>

#include "device/host/process.h"

namespace accelerator::host {
namespace {

bool finds(const std::string& name, int process, int file) {
  const auto found = find_shared_files(name);
  return std::any_of(found.begin(), found.end(), [&](const FoundFile& one) {
    return one.process == process && one.file == file;
  });
}

TEST(SharedFile, IsFoundByItsNameAsLongAsItIsOpen) {
  const int file = create_shared_file("accel-test-one", 100);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(finds("accel-test-one", getpid(), file));
  EXPECT_TRUE(finds("accel-test", getpid(), file));
  EXPECT_FALSE(finds("accel-test-other", getpid(), file));
  close(file);
  EXPECT_FALSE(finds("accel-test-one", getpid(), file));
}

TEST(SharedFile, IsAForkedChildsToo) {
  const int file = create_shared_file("accel-test-two", 100);
  ASSERT_GE(file, 0);
  int end[2];
  ASSERT_EQ(pipe(end), 0);
  const int child = fork();
  if (child == 0) {
    char nothing = 0;
    close(end[1]);
    _exit(read(end[0], &nothing, 1) == 0 ? 0 : 1);
  }
  close(end[0]);
  EXPECT_TRUE(finds("accel-test-two", child, file));
  EXPECT_EQ(own_number(child), child);
  EXPECT_EQ(own_number(getpid()), getpid());
  close(end[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(finds("accel-test-two", child, file));
  EXPECT_EQ(own_number(child), 0);
  close(file);
}

} // namespace
} // namespace accelerator::host
