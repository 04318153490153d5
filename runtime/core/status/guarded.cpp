#include "runtime/core/status/guarded.h"

#include <mutex>
#include <set>
#include <string>

namespace accelerator::runtime {

void report_missing(const char* name) noexcept {
  static std::mutex mutex;
  try {
    static auto* seen = new std::set<const char*>;
    {
      const std::lock_guard lock(mutex);
      if (!seen->insert(name).second) {
        return;
      }
    }
    report(std::string(name) + " is not supported by this CUDA runtime");
  } catch (const std::bad_alloc&) {
    // The status that the caller gets says the same.
  }
}

} // namespace accelerator::runtime
