// Addresses in libraries, in the program and elsewhere.
#include "device/host/loaded_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <filesystem>

namespace accelerator::host {
namespace {

int here = 0;

TEST(LoadedLibrary, IsThatOfAnAddress) {
  Dl_info info{};
  void* const address = dlsym(RTLD_DEFAULT, "fputs");
  ASSERT_NE(dladdr(address, &info), 0);
  const auto library = loaded_library(address);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->path, info.dli_fname);
  EXPECT_EQ(library->begin, reinterpret_cast<std::uintptr_t>(info.dli_fbase));
}

TEST(LoadedLibrary, IsTheProgram) {
  const auto program = loaded_library(&here);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, std::filesystem::read_symlink("/proc/self/exe"));
}

TEST(LoadedLibrary, IsNoneElsewhere) {
  int local = 0;
  EXPECT_FALSE(loaded_library(&local));
  EXPECT_FALSE(loaded_library(nullptr));
}

TEST(LoadedLibrary, IsFoundWhenItIsLoadedLater) {
  ASSERT_TRUE(loaded_library(&here));
  void* const handle = dlopen("libresolv.so.2", RTLD_NOW);
  if (handle == nullptr) {
    GTEST_SKIP() << dlerror();
  }
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
  const auto library = loaded_library(map->l_ld);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->path, map->l_name);
}

} // namespace
} // namespace accelerator::host
