// What happens when the library is loaded, and what its Python half calls.
#include <string>

#include "profiler/timeline/child_profiler.h"
#include "profiler/timeline/cupti_library.h"
#include "profiler/timeline/session.h"

namespace {

const bool registered = [] {
  torch_cuda::profiler::register_child_profiler();
  return true;
}();

} // namespace

extern "C" {

/// Names the file of CUPTI; "": nowhere but where the loader looks.
__attribute__((visibility("default"))) void torch_cuda_profiler_set_cupti(
    const char* path) {
  torch_cuda::profiler::set_cupti_path(path);
}

/// Loads CUPTI. Null, or why it cannot be used; the text stays valid until the
/// next call by the same thread.
__attribute__((visibility("default"))) const char*
torch_cuda_profiler_load_cupti() {
  static thread_local std::string reason;
  if (torch_cuda::profiler::cupti_library() != nullptr) {
    return nullptr;
  }
  reason = torch_cuda::profiler::why_no_cupti();
  return reason.c_str();
}

/// Stops the profile that is recording CUDA for a while, or has it go on.
__attribute__((visibility("default"))) void torch_cuda_profiler_toggle(
    int enable) {
  torch_cuda::profiler::toggle_current_session(enable != 0);
}

} // extern "C"
