// Where LLVM is looked for.
#include "cudasim/native/compiler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace cudasim::native {
namespace {

namespace fs = std::filesystem;

class Beside : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = site / "llvmlite/binding";
    fs::create_directories(folder);
    fs::create_directories(site / "torch_cuda_sim/bin");
    fs::create_directories(site / "torch_cuda_sim/lib/some");
    fs::create_directories(site / "a/b/c/d");
    std::ofstream(folder / "libllvmlite.so") << "a library";
  }
  void TearDown() override {
    fs::remove_all(site);
  }

  const fs::path site = fs::path(testing::TempDir()) / "site";
  const std::string found = site / "llvmlite/binding/libllvmlite.so";
};

TEST_F(Beside, IsFoundFromTheFoldersOfAPackage) {
  for (const char* own :
       {"torch_cuda_sim/lib/libaccel_sim.so",
        "torch_cuda_sim/lib/some/libaccel_sim.so",
        "torch_cuda_sim/bin/../lib/libaccel_sim.so",
        "torch_cuda_sim/bin/../../torch_cuda_sim/bin/../lib/libaccel_sim.so",
        "torch_cuda_sim//./lib/./libaccel_sim.so"}) {
    EXPECT_EQ(library_beside(site / own), found) << own;
  }
}

TEST_F(Beside, IsFoundByAPathThatIsNotAbsolute) {
  const fs::path before = fs::current_path();
  fs::current_path(site / "torch_cuda_sim/bin");
  const std::string path = library_beside("../lib/libaccel_sim.so");
  fs::current_path(before);
  EXPECT_EQ(path, found);
}

TEST_F(Beside, IsNotLookedForFarAway) {
  EXPECT_EQ(library_beside(site / "a/b/c/d/libaccel_sim.so"), "");
  EXPECT_EQ(library_beside("/libaccel_sim.so"), "");
  EXPECT_EQ(library_beside("libaccel_sim.so"), "");
}

} // namespace
} // namespace cudasim::native
