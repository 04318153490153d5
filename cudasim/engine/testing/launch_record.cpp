#include "cudasim/engine/testing/launch_record.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace cudasim::engine::testing {
namespace {

/// The file of this process; null where none is asked for.
std::FILE* file() {
  static std::FILE* const opened = [] {
    const char* path = std::getenv("CUDASIM_LAUNCHES");
    return path == nullptr ? nullptr : std::fopen(path, "a");
  }();
  return opened;
}

std::string hexadecimal(const void* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string contents(std::uint64_t address, const Range& range) {
  return hexadecimal(
      reinterpret_cast<const void*>(address), range.end - range.begin);
}

std::string current_test() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr
      ? ""
      : std::string(test->test_suite_name()) + "." + test->name();
}

} // namespace

LaunchRecord::LaunchRecord(
    const std::string& text,
    const std::string& kernel,
    const Launch& launch,
    std::size_t parameter_bytes,
    const Memory& memory)
    : text_(text),
      kernel_(kernel),
      launch_(launch),
      parameter_bytes_(parameter_bytes),
      memory_(memory) {
  if (file() == nullptr) {
    return;
  }
  for (const auto& [address, range] : memory_.ranges) {
    before_[address] = contents(address, range);
  }
}

void LaunchRecord::finish(const Outcome& outcome) {
  if (file() == nullptr || outcome.fault != FaultKind::kNone) {
    return;
  }
  nlohmann::json record;
  record["test"] = current_test();
  record["text"] = text_;
  record["kernel"] = kernel_;
  record["grid"] = {launch_.grid.x, launch_.grid.y, launch_.grid.z};
  record["block"] = {launch_.block.x, launch_.block.y, launch_.block.z};
  record["shared"] = launch_.dynamic_shared_bytes;
  record["cooperative"] = launch_.cooperative;
  record["parameters"] = hexadecimal(launch_.parameters, parameter_bytes_);
  record["memory"] = nlohmann::json::array();
  for (const auto& [address, range] : memory_.ranges) {
    const auto name = memory_.variables.find(address);
    const std::string after = contents(address, range);
    nlohmann::json block;
    block["address"] = address;
    block["variable"] = name == memory_.variables.end() ? "" : name->second;
    block["read_only"] = range.read_only;
    block["before"] = before_[address];
    block["after"] = after == before_[address] ? "" : after;
    record["memory"].push_back(block);
  }
  std::fprintf(file(), "%s\n", record.dump().c_str());
  std::fflush(file());
}

} // namespace cudasim::engine::testing
