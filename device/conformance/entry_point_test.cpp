// The one symbol of a library, and the struct behind it.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

accel_get_api_function entry_point() {
  void* handle = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<accel_get_api_function>(
                      dlsym(handle, ACCEL_ENTRY_POINT))
                : nullptr;
}

TEST(EntryPoint, GivesOneStruct) {
  library();
  const auto entry = entry_point();
  ASSERT_NE(entry, nullptr);
  const accel_api* first = entry(ACCEL_ABI_VERSION);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(entry(ACCEL_ABI_VERSION), first);
  EXPECT_EQ(first->abi_version, ACCEL_ABI_VERSION);
  EXPECT_TRUE(
      ACCEL_HAS_MEMBER(accel_api, first->struct_size, event_synchronize));
  EXPECT_EQ(first->struct_size % sizeof(void*), 0u);
  EXPECT_STREQ(first->name, api().name);
}

// It stays as it is as long as the library is loaded.
TEST(EntryPoint, GivesAStructThatStays) {
  const size_t size = std::min(api().struct_size, sizeof(accel_api));
  const auto entry = entry_point();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(std::memcmp(entry(ACCEL_ABI_VERSION), &api(), size), 0);
}

TEST(EntryPoint, RefusesVersionsThatItDoesNotServe) {
  library();
  const auto entry = entry_point();
  ASSERT_NE(entry, nullptr);
  for (uint32_t version : {0u, 1000000u, UINT32_MAX}) {
    const accel_api* found = entry(version);
    EXPECT_TRUE(!found || found->abi_version == version) << version;
  }
}

TEST(EntryPoint, HasATextForThreadsWithoutErrors) {
  ASSERT_NE(api().last_error(), nullptr);
}

} // namespace
} // namespace accelerator::conformance
