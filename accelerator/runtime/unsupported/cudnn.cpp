// The functions of cuDNN that need no device. Its headers are a large download,
// so what is needed of them is declared here.
// Source: cuDNN graph API, version and error functions.
#include <dlfcn.h>

#include <cstddef>

namespace {

// The version whose names this library has: 9.26.0.
constexpr std::size_t kVersion = 92600;
constexpr int kNotSupported = 3000; // CUDNN_STATUS_NOT_SUPPORTED

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

/// What torch_cuda asks to learn whether cuDNN works here. A question is no use
/// of it: nothing is told to the user.
int cudnnGetProperty(int, int*) {
  return kNotSupported;
}

void cudnnGetLastErrorString(char* text, std::size_t size) {
  if (text != nullptr && size > 0) {
    text[0] = '\0';
  }
}

} // extern "C"
