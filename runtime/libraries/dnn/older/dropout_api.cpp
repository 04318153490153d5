// Dropout of the older API. Its states are a seed, and how many numbers have
// been drawn, in the device's memory.
#include <cstring>

#include "runtime/libraries/dnn/compute/random.h"
#include "runtime/libraries/dnn/older/call.h"

namespace accelerator::dnn {
namespace {

struct States {
  std::uint64_t seed;
  std::uint64_t calls;
};

/// A bit for each element, in whole words.
std::size_t reserve_bytes(const Layout& x) {
  return (static_cast<std::size_t>(count_of(x.dims)) + 63) / 64 * 8;
}

Layout bits_layout(const Layout& x) {
  return {CUDNN_DATA_BOOLEAN, {count_of(x.dims)}, {1}};
}

void set(
    cudnnDropoutStruct* dropout,
    float probability,
    void* states,
    std::size_t size,
    unsigned long long seed) {
  require_given(dropout);
  require_valid(
      probability >= 0 && probability <= 1,
      "the probability is none that can be");
  require_valid(
      states == nullptr || size >= sizeof(States), "the states are too small");
  *dropout = {probability, states, seed};
}

} // namespace
} // namespace accelerator::dnn

using namespace accelerator::dnn;

extern "C" {

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* dropout) {
  return create(__func__, dropout);
}

cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropout) {
  return destroy(dropout);
}

cudnnStatus_t cudnnDropoutGetStatesSize(
    cudnnHandle_t handle,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(handle, size);
    *size = sizeof(States);
  });
}

cudnnStatus_t cudnnDropoutGetReserveSpaceSize(
    cudnnTensorDescriptor_t x,
    std::size_t* size) {
  return guarded(__func__, [&] {
    require_given(x, size);
    *size = reserve_bytes(x->layout);
  });
}

cudnnStatus_t cudnnSetDropoutDescriptor(
    cudnnDropoutDescriptor_t dropout,
    cudnnHandle_t handle,
    float probability,
    void* states,
    std::size_t size,
    unsigned long long seed) {
  return guarded(__func__, [&] {
    require_given(handle);
    set(dropout, probability, states, size, seed);
    if (states != nullptr) {
      submit(
          "cudnnSetDropoutDescriptor",
          handle->stream,
          {{{CUDNN_DATA_INT64, {2}, {1}}, states, false}},
          [states, seed] {
            const States begin{seed, 0};
            std::memcpy(states, &begin, sizeof(begin));
          });
    }
  });
}

cudnnStatus_t cudnnRestoreDropoutDescriptor(
    cudnnDropoutDescriptor_t dropout,
    cudnnHandle_t handle,
    float probability,
    void* states,
    std::size_t size,
    unsigned long long seed) {
  return guarded(__func__, [&] {
    require_given(handle);
    set(dropout, probability, states, size, seed);
  });
}

cudnnStatus_t cudnnGetDropoutDescriptor(
    cudnnDropoutDescriptor_t dropout,
    cudnnHandle_t handle,
    float* probability,
    void** states,
    unsigned long long* seed) {
  return guarded(__func__, [&] {
    require_given(dropout, handle, probability, states, seed);
    *probability = dropout->probability;
    *states = dropout->states;
    *seed = dropout->seed;
  });
}

cudnnStatus_t cudnnDropoutForward(
    cudnnHandle_t handle,
    const cudnnDropoutDescriptor_t dropout,
    const cudnnTensorDescriptor_t x_tensor,
    const void* x,
    const cudnnTensorDescriptor_t y_tensor,
    void* y,
    void* reserve,
    std::size_t size) {
  return guarded(__func__, [&] {
    require_given(handle, dropout, x_tensor, x, y_tensor, y, reserve);
    require_given(dropout->states);
    const Layout& result = y_tensor->layout;
    require_valid(
        x_tensor->layout.dims == result.dims, "x and y differ in size");
    require_valid(
        size >= reserve_bytes(result), "the reserved space is too small");
    const Layout bits = bits_layout(result);
    require(
        accelerator::stream_work::accessible(
            "cudnnDropoutForward",
            {{reserve, bits.bytes()}, {dropout->states, sizeof(States)}}),
        CUDNN_STATUS_EXECUTION_FAILED,
        "the reserved space or the states lie out of bounds");
    compute(
        "cudnnDropoutForward",
        handle,
        {{x_tensor->layout, x}},
        {result, y},
        1,
        0,
        [bits,
         reserve,
         states = dropout->states,
         dropped = static_cast<double>(dropout->probability)](const auto& in) {
          using T = ElementOf<decltype(in)>;
          States state{};
          std::memcpy(&state, states, sizeof(state));
          Array<T> kept(bits.dims);
          Array<T> made(in[0].dims());
          T* keeps = kept.writable();
          T* to = made.writable();
          const T factor = static_cast<T>(dropped < 1 ? 1 / (1 - dropped) : 0);
          for (std::int64_t i = 0; i < made.size(); ++i) {
            const bool is_kept =
                random_uniform(
                    state.seed, state.calls, static_cast<std::uint64_t>(i)) >
                dropped;
            keeps[i] = static_cast<T>(is_kept);
            to[i] = is_kept ? in[0][i] * factor : T{};
          }
          ++state.calls;
          std::memcpy(states, &state, sizeof(state));
          write(bits, reserve, kept);
          return made;
        });
  });
}

cudnnStatus_t cudnnDropoutBackward(
    cudnnHandle_t handle,
    const cudnnDropoutDescriptor_t dropout,
    const cudnnTensorDescriptor_t dy_tensor,
    const void* dy,
    const cudnnTensorDescriptor_t dx_tensor,
    void* dx,
    void* reserve,
    std::size_t size) {
  return guarded(__func__, [&] {
    require_given(handle, dropout, dy_tensor, dy, dx_tensor, dx, reserve);
    const Layout& result = dx_tensor->layout;
    require_valid(
        dy_tensor->layout.dims == result.dims, "dx and dy differ in size");
    require_valid(
        size >= reserve_bytes(result), "the reserved space is too small");
    compute(
        "cudnnDropoutBackward",
        handle,
        {{dy_tensor->layout, dy}, {bits_layout(result), reserve}},
        {result, dx},
        1,
        0,
        [dropped = static_cast<double>(dropout->probability)](const auto& in) {
          using T = ElementOf<decltype(in)>;
          Array<T> made(in[0].dims());
          T* to = made.writable();
          const T factor = static_cast<T>(dropped < 1 ? 1 / (1 - dropped) : 0);
          for (std::int64_t i = 0; i < made.size(); ++i) {
            to[i] = in[1][i] != 0 ? in[0][i] * factor : T{};
          }
          return made;
        });
  });
}

} // extern "C"
