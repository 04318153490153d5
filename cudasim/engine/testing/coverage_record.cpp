#include "cudasim/engine/testing/coverage_record.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "cudasim/engine/instructions/key.h"
#include "cudasim/engine/instructions/registry.h"

namespace cudasim::engine::testing {
namespace {

std::set<std::string>& checked() {
  static std::set<std::string> keys;
  return keys;
}

std::string test_source() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string file = test == nullptr ? "" : test->file();
  return file.substr(file.rfind('/') + 1);
}

void write_record(std::initializer_list<std::string> words) {
  const char* path = std::getenv("CUDASIM_COVERAGE");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) {
    return;
  }
  const char* separator = "";
  for (const std::string& word : words) {
    std::fprintf(file, "%s%s", separator, word.c_str());
    separator = "\t";
  }
  std::fputs("\n", file);
  std::fclose(file);
}

} // namespace

void record_checked(const std::string& instruction) {
  const std::string key = canonical_key(instruction);
  if (checked().insert(key).second) {
    write_record({"checked", key, test_source()});
  }
}

bool is_instruction(const std::string& instruction) {
  return find_rows(best_isa(), canonical_key(instruction)) != nullptr;
}

void record_handlers() {
  for_each_entry([](const char* family, const Entry& entry) {
    write_record({"has", family, canonical_key(std::string(entry.key))});
  });
}

std::set<std::string> unchecked_instructions() {
  // for_each_entry takes a plain function.
  static std::set<std::string> missing;
  missing.clear();
  for_each_entry([](const char* family, const Entry& entry) {
    const std::string key = canonical_key(std::string(entry.key));
    // What the warp's loop executes is tested by kernels.
    if (entry.handler != nullptr && checked().count(key) == 0) {
      missing.insert(std::string(family) + ": " + key);
    }
  });
  return missing;
}

} // namespace cudasim::engine::testing
