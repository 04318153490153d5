// The functions of cuDNN that need no device. Its headers are a large download,
// so what is needed of them is declared here.
// Source: cuDNN graph API, version and error functions.
#include <dlfcn.h>

#include <cstddef>

namespace {

// The version whose names this library has: 9.26.0.
constexpr std::size_t kVersion = 92600;
constexpr int kSuccess = 0; // CUDNN_STATUS_SUCCESS
constexpr int kInvalidValue = 2000; // CUDNN_STATUS_BAD_PARAM

} // namespace

extern "C" {

std::size_t cudnnGetVersion() {
  return kVersion;
}

/// The version of the runtime in this process, for which it stands in.
std::size_t cudnnGetCudartVersion() {
  int version = 0;
  auto* ask = reinterpret_cast<int (*)(int*)>(
      dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"));
  if (ask != nullptr) {
    ask(&version);
  }
  return static_cast<std::size_t>(version);
}

/// PyTorch compares the version with the one that it was compiled for before
/// anything asks whether cuDNN is there.
int cudnnGetProperty(int property, int* value) {
  switch (property) { // libraryPropertyType, of library_types.h
    case 0:
      *value = kVersion / 10000;
      return kSuccess;
    case 1:
      *value = kVersion / 100 % 100;
      return kSuccess;
    case 2:
      *value = kVersion % 100;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

/// Says that nothing is behind the names.
int accelerator_no_cudnn() {
  return 1;
}

void cudnnGetLastErrorString(char* text, std::size_t size) {
  if (text != nullptr && size > 0) {
    text[0] = '\0';
  }
}

} // extern "C"
