#include "device/host/environment.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>

namespace accelerator::host {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  return std::string(value);
}

const char* renamed(const char* name, const char* older_name) {
  if (std::getenv(name) != nullptr || std::getenv(older_name) == nullptr) {
    return name;
  }
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (told->insert(older_name).second) {
    std::fprintf(
        stderr,
        "torch_cuda: %s is now called %s; the old name still works\n",
        older_name,
        name);
  }
  return older_name;
}

void reject(
    const char* name,
    const std::string& value,
    const std::string& allowed) {
  throw std::invalid_argument(
      std::string(name) + "=" + value + " is not allowed: " + allowed);
}

bool read_switch(const char* name, bool fallback) {
  const auto value = variable(name);
  if (!value || value->empty()) {
    return fallback;
  }
  if (*value != "0" && *value != "1") {
    reject(name, *value, "write 0 or 1");
  }
  return *value == "1";
}

long read_count(const char* name, long fallback, long least, long most) {
  const auto value = variable(name);
  if (!value || value->empty()) {
    return fallback;
  }
  char* end = nullptr;
  const long count = std::strtol(value->c_str(), &end, 10);
  if (*end != '\0' || count < least || count > most) {
    reject(
        name,
        *value,
        "write a number from " + std::to_string(least) + " to " +
            std::to_string(most));
  }
  return count;
}

std::optional<std::uint64_t> parse_size(const std::string& text) {
  char* end = nullptr;
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) {
    return std::nullopt;
  }
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  const std::string unit(end);
  int shift = 0;
  if (!unit.empty()) {
    const std::string units = "KMGT";
    const auto at = units.find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    const bool suffix =
        unit.size() == 1 || unit.substr(1) == "iB" || unit.substr(1) == "B";
    if (at == std::string::npos || !suffix) {
      return std::nullopt;
    }
    shift = 10 * (static_cast<int>(at) + 1);
  }
  if (number == 0 || number > (std::uint64_t{1} << 46) >> shift) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(number) << shift;
}

} // namespace accelerator::host
