// What device/abi/library.h accepts and refuses, with `fake` and a fake
// that was compiled against the first version of abi/device_api.h.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "device/abi/library.h"
#include "device/abi/objects.h"

// The frozen copy beside today's header.
#undef ACCELERATOR_ABI_DEVICE_API_H_
namespace first {
#include "device/conformance/testing/first_version.h"
} // namespace first

namespace accelerator {
namespace {

std::string path(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// The struct of `fake`, to be changed; what it finalizes stays usable.
accel_api fake() {
  static auto* library = new Library(path("ACCEL_LIBRARY"));
  accel_api api = library->api();
  api.finalize = [] { return ACCEL_OK; };
  return api;
}

/// Expects one message with all of the words.
template <typename Body>
void expect_refused(const std::vector<std::string>& words, const Body& body) {
  try {
    body();
    ADD_FAILURE() << "was accepted";
  } catch (const LibraryError& error) {
    const std::string text = error.what();
    for (const auto& word : words)
      EXPECT_NE(text.find(word), std::string::npos)
          << "no \"" << word << "\" in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

void expect_refused(
    const std::vector<std::string>& words,
    const accel_api& api) {
  expect_refused(words, [&] { Library("/lib/vendor.so", &api); });
}

TEST(Loading, RefusesWhatIsNoLibrary) {
  expect_refused({"/no/such/vendor.so", "cannot be loaded"}, [] {
    Library("/no/such/vendor.so");
  });
  const std::string text = testing::TempDir() + "/accel_text.so";
  std::ofstream(text) << "no library\n";
  expect_refused({text, "cannot be loaded"}, [&] { Library{text}; });
}

TEST(Loading, RefusesALibraryWithoutTheEntryPoint) {
  expect_refused(
      {"libm.so.6", "accel_get_api", "nm -D"}, [] { Library("libm.so.6"); });
}

TEST(Loading, RefusesALibraryThatDoesNotServeThisVersion) {
  expect_refused({"vendor.so", "version 1", "compile"}, [] {
    Library("vendor.so", nullptr);
  });
}

TEST(Loading, RefusesAnotherVersion) {
  accel_api api = fake();
  api.abi_version = 2;
  expect_refused(
      {"/lib/vendor.so", "version 2", "needed is 1", "compile"}, api);
  // What is behind the version is not looked at.
  api.struct_size = offsetof(accel_api, last_error);
  expect_refused({"version 2"}, api);
}

TEST(Loading, RefusesAStructThatIsTooShort) {
  accel_api api = fake();
  for (size_t size : {size_t(0), size_t(8), offsetof(accel_api, name)}) {
    api.struct_size = size;
    expect_refused({std::to_string(size) + " bytes"}, api);
  }
  api.struct_size = offsetof(accel_api, event_query);
  expect_refused({"event_query, event_synchronize", "fill these"}, api);
}

TEST(Loading, RefusesEachFunctionThatIsMissing) {
  const accel_api whole = fake();
  for (size_t offset = offsetof(accel_api, last_error);
       offset <= offsetof(accel_api, event_synchronize);
       offset += sizeof(void*)) {
    accel_api api = whole;
    std::memset(reinterpret_cast<char*>(&api) + offset, 0, sizeof(void*));
    expect_refused({"lacks functions that are required"}, api);
  }
  accel_api api = whole;
  api.copy = nullptr;
  api.stream_callback = nullptr;
  expect_refused({"copy, stream_callback"}, api);
}

TEST(Loading, RefusesNamesThatCannotBeTyped) {
  for (const char* name :
       {"", "Vendor", "a b", "a-b", "a,b", "a:2", "\xc3\xa4", "a/b"}) {
    accel_api api = fake();
    api.name = name;
    expect_refused({"name", name, "lower-case"}, api);
  }
  accel_api api = fake();
  api.name = nullptr;
  expect_refused({"name"}, api);
  api.name = "vendor_2";
  EXPECT_STREQ(Library("/lib/vendor.so", &api).api().name, "vendor_2");
}

// A newer library: what is behind the end is not touched.
TEST(Loading, AcceptsALongerStruct) {
  struct Later {
    accel_api known;
    void* more[16];
  } later = {};
  later.known = fake();
  later.known.struct_size = sizeof later;
  std::memset(later.more, 0xff, sizeof later.more);
  Library library("/lib/vendor.so", &later.known);
  library.initialize("");
  EXPECT_EQ(library.devices().size(), 1u);
  EXPECT_FALSE(library.has_functions(ACCEL_CAP_COLLECTIVES));
}

uint64_t capabilities = 0;

accel_status properties_with_more(int32_t device, accel_properties* to) {
  static const accel_api whole = fake();
  const accel_status status = whole.device_properties(device, to);
  if (status == ACCEL_OK)
    to->capabilities |= capabilities;
  return status;
}

TEST(Loading, RefusesACapabilityWithoutItsFunctions) {
  for (int bit = 2; bit < 12; ++bit) {
    accel_api api = fake();
    api.device_properties = properties_with_more;
    capabilities = uint64_t(1) << bit;
    // The one group of functions that `fake` has.
    if (capabilities == ACCEL_CAP_IPC) {
      api.ipc_export = nullptr;
      api.ipc_import = nullptr;
      api.ipc_close = nullptr;
    }
    expect_refused(
        {"device 0",
         name_of(static_cast<accel_capability>(1 << bit)),
         "no functions"},
        [&] { Library("/lib/vendor.so", &api).initialize(""); });
  }
}

TEST(Loading, RefusesFunctionsWithoutTheirCapability) {
  accel_api api = fake();
  api.event_elapsed = [](accel_event, accel_event, float*) { return ACCEL_OK; };
  expect_refused({"event_elapsed", "ACCEL_CAP_TIMING"}, [&] {
    Library("/lib/vendor.so", &api).initialize("");
  });
  api.device_properties = properties_with_more;
  capabilities = ACCEL_CAP_TIMING;
  Library whole("/lib/vendor.so", &api);
  whole.initialize("");
  EXPECT_TRUE(whole.has_functions(ACCEL_CAP_TIMING));
}

TEST(Loading, RefusesHalfAGroup) {
  accel_api api = fake();
  api.host_free = [](void*) { return ACCEL_OK; };
  api.device_properties = properties_with_more;
  capabilities = ACCEL_CAP_PINNED;
  expect_refused(
      {"host_allocate, host_register, host_unregister", "ACCEL_CAP_PINNED"},
      [&] { Library("/lib/vendor.so", &api).initialize(""); });
}

// Bits that this version does not know are a newer library's.
TEST(Loading, AcceptsCapabilitiesThatItDoesNotKnow) {
  accel_api api = fake();
  api.device_properties = properties_with_more;
  capabilities = UINT64_C(1) << 40;
  Library library("/lib/vendor.so", &api);
  library.initialize("");
  EXPECT_TRUE(library.has(0, ACCEL_CAP_HOST_VISIBLE));
}

TEST(Loading, SaysWhatInitializeRefuses) {
  accel_api api = fake();
  Library library("/lib/vendor.so", &api);
  try {
    library.initialize("colour=blue");
    FAIL() << "was accepted";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), ACCEL_INVALID_ARGUMENT);
    const std::string text = error.what();
    for (const char* word : {"/lib/vendor.so", "colour=blue", "count="})
      EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  EXPECT_FALSE(library.is_initialized());
  library.initialize("");
  EXPECT_TRUE(library.is_initialized());
}

// What the first version had is where it was.
TEST(FirstVersion, IsTheBeginningOfTodays) {
  EXPECT_EQ(sizeof(first::accel_api), offsetof(accel_api, device_fail));
#define SAME(type, member) \
  EXPECT_EQ(offsetof(first::type, member), offsetof(type, member)) << #member
  SAME(accel_api, abi_version);
  SAME(accel_api, name);
  SAME(accel_api, last_error);
  SAME(accel_api, initialize);
  SAME(accel_api, finalize);
  SAME(accel_api, device_count);
  SAME(accel_api, device_properties);
  SAME(accel_api, device_synchronize);
  SAME(accel_api, device_status);
  SAME(accel_api, device_reset);
  SAME(accel_api, memory_allocate);
  SAME(accel_api, memory_free);
  SAME(accel_api, memory_info);
  SAME(accel_api, copy);
  SAME(accel_api, fill);
  SAME(accel_api, stream_create);
  SAME(accel_api, stream_destroy);
  SAME(accel_api, stream_query);
  SAME(accel_api, stream_synchronize);
  SAME(accel_api, stream_wait_event);
  SAME(accel_api, stream_callback);
  SAME(accel_api, event_create);
  SAME(accel_api, event_destroy);
  SAME(accel_api, event_record);
  SAME(accel_api, event_query);
  SAME(accel_api, event_synchronize);
  SAME(accel_properties, capabilities);
  SAME(accel_properties, total_memory);
  SAME(accel_properties, major);
  SAME(accel_properties, shared_per_block);
  SAME(accel_properties, pci_device);
  SAME(accel_copy, from_device);
  SAME(accel_fill, slice);
#undef SAME
}

TEST(FirstVersion, Loads) {
  Library library(path("ACCEL_FIRST_VERSION"));
  EXPECT_EQ(library.api().struct_size, sizeof(first::accel_api));
  library.initialize("count=2");
  EXPECT_EQ(library.devices().size(), 2u);
  for (int bit = 2; bit < 12; ++bit)
    EXPECT_FALSE(
        library.has_functions(static_cast<accel_capability>(1 << bit)));
  EXPECT_EQ(library.api().event_elapsed, nullptr);
  EXPECT_EQ(library.api().collective, nullptr);
  const accel_api& api = library.api();
  Stream stream(api, 1);
  Memory memory(api, 1, 100);
  EXPECT_EQ(api.stream_synchronize(stream), ACCEL_OK);
}

} // namespace
} // namespace accelerator
