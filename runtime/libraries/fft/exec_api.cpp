// Running plans: each run is work of the plan's stream.
#include <cufft.h>
#include <cufftXt.h>

#include <memory>
#include <optional>
#include <vector>

#include "runtime/libraries/fft/plans.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::fft {
namespace {

/// What a function runs; absent what it leaves to the plan.
struct Expected {
  std::optional<Kind> kind;
  std::optional<Precision> precision;
};

/// Tells of the elements that a transform reads: pieces of two dimensions.
void tell_reads(const Side& side, const void* input) {
  if (!stream_work::wants_reads()) {
    return;
  }
  const auto bytes = [&](std::ptrdiff_t elements) {
    return elements * static_cast<std::ptrdiff_t>(side.element_bytes);
  };
  const std::size_t last = side.shape.size() - 1;
  const std::size_t above = last == 0 ? 0 : last - 1;
  std::vector<std::size_t> index(above, 0);
  for (bool is_done = false; !is_done;) {
    std::ptrdiff_t offset = 0;
    for (std::size_t i = 0; i < above; ++i) {
      offset += static_cast<std::ptrdiff_t>(index[i]) * side.strides[i];
    }
    stream_work::Read read(
        static_cast<const char*>(input) + bytes(offset), side.element_bytes);
    read.lines = static_cast<std::int64_t>(side.shape[last]);
    read.pitch = bytes(side.strides[last]);
    if (last > 0) {
      read.batches = static_cast<std::int64_t>(side.shape[above]);
      read.distance = bytes(side.strides[above]);
    }
    stream_work::reads({read});
    is_done = true;
    for (std::size_t i = above; i > 0 && is_done; --i) {
      is_done = ++index[i - 1] == side.shape[i - 1];
      index[i - 1] = is_done ? 0 : index[i - 1];
    }
  }
}

cufftResult run(
    const char* function,
    Expected expected,
    cufftHandle handle,
    const void* input,
    void* output,
    int direction) {
  const auto plan = find_plan(handle);
  if (plan == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  cudaStream_t stream = nullptr;
  std::shared_ptr<const Transform> transform;
  {
    const std::lock_guard<std::mutex> lock(plan->mutex);
    stream = plan->stream;
    transform = plan->transform;
  }
  if (transform == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  if (expected.kind.value_or(transform->kind) != transform->kind ||
      expected.precision.value_or(transform->precision) !=
          transform->precision) {
    return CUFFT_INVALID_VALUE;
  }
  if (input == nullptr || output == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  if (transform->kind == Kind::kComplexToComplex &&
      direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) {
    return CUFFT_INVALID_VALUE;
  }
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    return CUFFT_SETUP_FAILED;
  }
  if (device != plan->device) {
    return CUFFT_INVALID_DEVICE;
  }
  const bool in_place = input == output;
  if (!stream_work::accessible(
          function,
          {{input, transform->input(in_place).extent_bytes()},
           {output, transform->output(in_place).extent_bytes()}})) {
    return CUFFT_EXEC_FAILED;
  }
  const cudaError_t error = stream_work::enqueue_checked(function, stream, [=] {
    return stream_work::without_exceptions(function, [&] {
      tell_reads(transform->input(in_place), input);
      compute(*transform, input, output, direction == CUFFT_FORWARD);
      return cudaSuccess;
    });
  });
  if (error == cudaErrorNotSupported) {
    return CUFFT_NOT_SUPPORTED;
  }
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

} // namespace
} // namespace accelerator::fft

using namespace accelerator::fft;

extern "C" {

// The three kinds of one precision, named by the letters of its real and its
// complex numbers.
#define ACCEL_PRECISION(R, C, precision, Real, Complex)                   \
  cufftResult cufftExec##C##2##C(                                         \
      cufftHandle plan, Complex* input, Complex* output, int direction) { \
    return run(                                                           \
        __func__,                                                         \
        {Kind::kComplexToComplex, precision},                             \
        plan,                                                             \
        input,                                                            \
        output,                                                           \
        direction);                                                       \
  }                                                                       \
  cufftResult cufftExec##R##2##C(                                         \
      cufftHandle plan, Real* input, Complex* output) {                   \
    return run(                                                           \
        __func__,                                                         \
        {Kind::kRealToComplex, precision},                                \
        plan,                                                             \
        input,                                                            \
        output,                                                           \
        CUFFT_FORWARD);                                                   \
  }                                                                       \
  cufftResult cufftExec##C##2##R(                                         \
      cufftHandle plan, Complex* input, Real* output) {                   \
    return run(                                                           \
        __func__,                                                         \
        {Kind::kComplexToReal, precision},                                \
        plan,                                                             \
        input,                                                            \
        output,                                                           \
        CUFFT_INVERSE);                                                   \
  }
ACCEL_PRECISION(R, C, Precision::kSingle, cufftReal, cufftComplex)
ACCEL_PRECISION(D, Z, Precision::kDouble, cufftDoubleReal, cufftDoubleComplex)
#undef ACCEL_PRECISION

cufftResult cufftXtExec(
    cufftHandle plan,
    void* input,
    void* output,
    int direction) {
  return run(__func__, {}, plan, input, output, direction);
}

} // extern "C"
