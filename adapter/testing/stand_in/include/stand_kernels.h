// Kernels of the stand-in: functions of the host in CUDA's language, and their
// launch.
//
// Blocks run one after the other on their stream's thread; the threads of a
// block take turns at __syncthreads(). So shared memory is static memory, and
// what needs more than that is not there: dynamic shared memory
// (extern __shared__), warps (__shfl_sync and the like), cooperative groups.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <tuple>
#include <utility>

#include "stand_runtime_api.h"

#define __STANDCC__ 1

#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static __thread
#ifndef __restrict__
#define __restrict__ __restrict
#endif

struct uint3 {
  unsigned int x, y, z;
};

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
      : x(x), y(y), z(z) {}
};

extern "C" {
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread uint3 blockDim;
extern __thread uint3 gridDim;

/// All threads of the block get here before one goes on; those that have
/// ended are not waited for.
void __syncthreads(void);

/// Puts a kernel into a stream.
/// @param run called once for each thread; @param destroy once, at the end,
/// even if the kernel did not run; @param data for both of them.
standError_t standLaunchKernel(
    const dim3* grid,
    const dim3* block,
    size_t shared,
    standStream_t stream,
    void (*run)(void* data),
    void (*destroy)(void* data),
    void* data);
}

constexpr int warpSize = 32;

inline void __threadfence() {
  __sync_synchronize();
}
inline void __threadfence_block() {
  __sync_synchronize();
}
template <class T>
inline T __ldg(const T* address) {
  return *address;
}

/// Streams have threads of their own, so that two kernels can add at once.
template <class T, class V>
inline T atomicAdd(T* address, V value) {
  T old, sum;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    sum = static_cast<T>(old + value);
  } while (!__atomic_compare_exchange(
      address, &old, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
template <class T, class V>
inline T atomicMax(T* address, V value) {
  T old, most;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    most = old < static_cast<T>(value) ? static_cast<T>(value) : old;
  } while (!__atomic_compare_exchange(
      address, &old, &most, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

/// Launches a kernel, as kernel<<<grid, block, shared, stream>>>(arguments...)
/// does. Arguments are copied now and converted when it runs.
template <class... Parameters, class... Arguments>
inline standError_t standLaunch(
    dim3 grid,
    dim3 block,
    size_t shared,
    standStream_t stream,
    void (*kernel)(Parameters...),
    Arguments&&... arguments) {
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  auto* call = new Call{
      kernel, std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)};
  return standLaunchKernel(
      &grid,
      &block,
      shared,
      stream,
      [](void* data) {
        auto* call = static_cast<Call*>(data);
        std::apply(call->kernel, call->arguments);
      },
      [](void* data) { delete static_cast<Call*>(data); },
      call);
}
