// The functions of cuDNN that need no device.
#include <cudnn.h>

extern "C" {

/// The version whose functions this library has.
size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

size_t cudnnGetCudartVersion() {
  return CUDART_VERSION;
}

/// What torch_cuda asks to learn whether cuDNN works here. A question is no use
/// of it: nothing is told to the user.
cudnnStatus_t cudnnGetProperty(libraryPropertyType, int*) {
  return CUDNN_STATUS_NOT_SUPPORTED;
}

} // extern "C"
