// Filling memory. Source: CUDA driver API, memory management.
#include "runtime/api/driver/call.h"
#include "runtime/core/operations/copies.h"

using namespace accelerator::runtime;
using accelerator::driver::call;
using accelerator::driver::current_context;
using accelerator::driver::pointer;

namespace {

CUresult fill(
    bool wait,
    CUdeviceptr to,
    std::size_t pitch,
    std::uint32_t value,
    unsigned element_size,
    std::size_t width,
    std::size_t height,
    CUstream stream,
    const char* function = __builtin_FUNCTION()) {
  const auto body = [&] {
    current_context();
    FillWork work = linear_fill(pointer(to), value, element_size, width);
    work.height = height;
    if (height > 1) {
      work.pitch = pitch;
    }
    operations::fill(stream, work, wait);
  };
  return call(body, function);
}

} // namespace

extern "C" {

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(true, to, 0, value, 1, count, 1, nullptr);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return fill(true, to, 0, value, 2, count, 1, nullptr);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return fill(true, to, 0, value, 4, count, 1, nullptr);
}

CUresult cuMemsetD8Async(
    CUdeviceptr to,
    unsigned char value,
    size_t count,
    CUstream stream) {
  return fill(false, to, 0, value, 1, count, 1, stream);
}

CUresult cuMemsetD16Async(
    CUdeviceptr to,
    unsigned short value,
    size_t count,
    CUstream stream) {
  return fill(false, to, 0, value, 2, count, 1, stream);
}

CUresult cuMemsetD32Async(
    CUdeviceptr to,
    unsigned value,
    size_t count,
    CUstream stream) {
  return fill(false, to, 0, value, 4, count, 1, stream);
}

CUresult cuMemsetD2D8Async(
    CUdeviceptr to,
    size_t pitch,
    unsigned char value,
    size_t width,
    size_t height,
    CUstream stream) {
  return fill(false, to, pitch, value, 1, width, height, stream);
}

CUresult cuMemsetD2D16Async(
    CUdeviceptr to,
    size_t pitch,
    unsigned short value,
    size_t width,
    size_t height,
    CUstream stream) {
  return fill(false, to, pitch, value, 2, width, height, stream);
}

CUresult cuMemsetD2D32Async(
    CUdeviceptr to,
    size_t pitch,
    unsigned value,
    size_t width,
    size_t height,
    CUstream stream) {
  return fill(false, to, pitch, value, 4, width, height, stream);
}

CUresult cuMemsetD2D8(
    CUdeviceptr to,
    size_t pitch,
    unsigned char value,
    size_t width,
    size_t height) {
  return fill(true, to, pitch, value, 1, width, height, nullptr);
}

CUresult cuMemsetD2D16(
    CUdeviceptr to,
    size_t pitch,
    unsigned short value,
    size_t width,
    size_t height) {
  return fill(true, to, pitch, value, 2, width, height, nullptr);
}

CUresult cuMemsetD2D32(
    CUdeviceptr to,
    size_t pitch,
    unsigned value,
    size_t width,
    size_t height) {
  return fill(true, to, pitch, value, 4, width, height, nullptr);
}

// A word that a stream writes is a fill like any other: the barrier that its
// flag is about has nothing to wait for, since a stream's work is done in
// order.
CUresult cuStreamWriteValue32(
    CUstream stream,
    CUdeviceptr address,
    cuuint32_t value,
    unsigned flags) {
  if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) {
    return call([] { throw Failure(cudaErrorInvalidValue); });
  }
  return fill(false, address, 0, value, 4, 1, 1, stream);
}

} // extern "C"
