#include "device/host/report.h"

#include <algorithm>
#include <cstdio>
#include <new>

namespace accelerator::host {

void report(const char* prefix, const std::string& message) noexcept {
  try {
    std::string text;
    std::size_t begin = 0;
    while (begin < message.size()) {
      const std::size_t end =
          std::min(message.find('\n', begin), message.size());
      text += prefix;
      text.append(message, begin, end - begin);
      text += '\n';
      begin = end + 1;
    }
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%sa report was lost: out of host memory\n", prefix);
  }
}

} // namespace accelerator::host
