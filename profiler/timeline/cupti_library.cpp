#include "profiler/timeline/cupti_library.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>

namespace torch_cuda::profiler {
namespace {

// As the headers that this is compiled with.
constexpr const char* kSoname = "libcupti.so.12";

struct State {
  std::mutex mutex;
  std::string path;
  std::string why_not;
  std::unique_ptr<CuptiLibrary> library;
};

State& state() {
  static auto* instance = new State(); // profiles may end after statics do
  return *instance;
}

void* open_library(const std::string& path) {
  if (void* loaded = dlopen(kSoname, RTLD_NOW | RTLD_NOLOAD)) {
    return loaded;
  }
  // A file that is there but broken is an error to tell, not one to step over.
  return dlopen(path.empty() ? kSoname : path.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

// Fills in all functions, or says why not.
std::string find_functions(void* handle, CuptiLibrary& library) {
  std::string missing;
#define TORCH_CUDA_CUPTI_FIND(name)                                   \
  library.name =                                                      \
      reinterpret_cast<decltype(library.name)>(dlsym(handle, #name)); \
  if (library.name == nullptr) {                                      \
    missing = #name;                                                  \
  }
  TORCH_CUDA_CUPTI_FUNCTIONS(TORCH_CUDA_CUPTI_FIND)
#undef TORCH_CUDA_CUPTI_FIND
  return missing.empty() ? "" : std::string(kSoname) + " without " + missing;
}

} // namespace

std::string CuptiLibrary::text_of(CUptiResult result) const {
  const char* text = nullptr;
  if (cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) {
    return text;
  }
  return "CUPTI's error " + std::to_string(result);
}

const CuptiLibrary* cupti_library() {
  State& current = state();
  const std::lock_guard lock(current.mutex);
  if (current.library != nullptr) {
    return current.library.get();
  }
  void* handle = open_library(current.path);
  if (handle == nullptr) {
    const char* error = dlerror();
    current.why_not = error != nullptr ? error : "it cannot be loaded";
    return nullptr;
  }
  auto library = std::make_unique<CuptiLibrary>();
  current.why_not = find_functions(handle, *library);
  if (!current.why_not.empty()) {
    return nullptr;
  }
  current.library = std::move(library);
  return current.library.get();
}

void set_cupti_path(const std::string& path) {
  const std::lock_guard lock(state().mutex);
  state().path = path;
}

std::string why_no_cupti() {
  const std::lock_guard lock(state().mutex);
  return state().why_not;
}

} // namespace torch_cuda::profiler
