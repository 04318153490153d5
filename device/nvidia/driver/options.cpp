#include "device/nvidia/driver/options.h"

#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

constexpr int kMostInFlight = 1000;

// -1 for what is no number from 1 on.
int parse_count(const std::string& text, int most) {
  if (text.empty() || text.size() > 4 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return -1;
  }
  const int count = std::stoi(text);
  return count >= 1 && count <= most ? count : -1;
}

} // namespace

Options parse_options(const std::string& text) {
  Options options;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const std::size_t sign = std::min(pair.find('='), pair.size());
    const std::string key = pair.substr(0, sign);
    const std::string value =
        sign < pair.size() ? pair.substr(sign + 1) : std::string();
    const int count = key == "count" ? parse_count(value, kMostDevices) : -1;
    const int in_flight =
        key == "in_flight" ? parse_count(value, kMostInFlight) : -1;
    if (key == "library" && !value.empty()) {
      options.library = value;
    } else if (count > 0) {
      options.count = count;
    } else if (in_flight > 0) {
      options.in_flight = in_flight;
    } else {
      throw Error(
          ACCEL_INVALID_ARGUMENT,
          "option \"" + pair +
              "\" is none of library=PATH of CUDA's driver, count=1 to " +
              std::to_string(kMostDevices) + ", in_flight=1 to " +
              std::to_string(kMostInFlight));
    }
    begin = end + 1;
  }
  return options;
}

} // namespace accelerator::nvidia
