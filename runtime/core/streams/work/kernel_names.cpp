#include "runtime/core/streams/work/kernel_names.h"

#include <mutex>
#include <unordered_set>

namespace accelerator::runtime {

const char* lasting_kernel_name(const std::string& name) {
  static std::mutex mutex;
  static auto* const names = new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

} // namespace accelerator::runtime
