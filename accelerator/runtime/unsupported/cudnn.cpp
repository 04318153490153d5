// The functions of cuDNN that need no device and return no status.
#include <cudnn.h>

extern "C" {

/// The version whose functions this library has.
size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

size_t cudnnGetCudartVersion() {
  return CUDART_VERSION;
}

} // extern "C"
