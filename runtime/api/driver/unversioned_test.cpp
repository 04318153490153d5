// The driver and NVML by names without a version, as programs load them that
// take what a machine of NVIDIA's has.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using Init = int (*)(unsigned);

void* function(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  return handle != nullptr ? dlsym(handle, name) : nullptr;
}

/// The file that a function is in.
std::string file_of(void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

// In each order: what is loaded first decides what the loader compares with.
TEST(Unversioned, IsTheLibraryThatHasTheVersion) {
  for (const char* library : {"libcuda.so", "libcuda.so.1", "libcuda.so"}) {
    void* found = function(library, "cuInit");
    ASSERT_NE(found, nullptr) << library;
    EXPECT_NE(file_of(found).find("libcuda.so.1"), std::string::npos);
    EXPECT_EQ(reinterpret_cast<Init>(found)(0), 0);
    EXPECT_EQ(found, function("libcuda.so.1", "cuInit"));
  }
  for (const char* library : {"libnvidia-ml.so.1", "libnvidia-ml.so"}) {
    void* found = function(library, "nvmlInit_v2");
    ASSERT_NE(found, nullptr) << library;
    EXPECT_NE(file_of(found).find("libnvidia-ml.so.1"), std::string::npos);
  }
}

} // namespace
