#include "accelerator/runtime/core/status/status.h"

#include <cstdio>
#include <new>

namespace accelerator::runtime {

void report(const std::string& message) noexcept {
  try {
    std::string text;
    std::size_t begin = 0;
    while (begin < message.size()) {
      std::size_t end = message.find('\n', begin);
      if (end == std::string::npos) {
        end = message.size();
      }
      text += "torch_cuda: ";
      text.append(message, begin, end - begin);
      text += '\n';
      begin = end + 1;
    }
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("torch_cuda: a report was lost: out of host memory\n", stderr);
  }
}

} // namespace accelerator::runtime
