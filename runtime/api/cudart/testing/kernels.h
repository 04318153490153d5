// Kernels and device variables for the tests of the runtime, compiled by nvcc.
#pragma once

#ifdef __CUDACC__
#define ACCEL_KERNEL __global__
#else
// To the host compiler a kernel is the function that stands for it.
#define ACCEL_KERNEL
#endif

namespace accelerator::cudart::testing {

inline constexpr int kTableSize = 4;
inline constexpr int kMostThreads = 64; // of `bounded`
inline constexpr int kStaticInts = 64; // of shared memory, in `bounded`

/// values[i] += amount for i < count.
ACCEL_KERNEL void add(int* values, int amount, int count);
/// Reverses blockDim.x values by way of as much dynamic shared memory.
ACCEL_KERNEL void reverse(int* values);
/// values[i] = table[i % kTableSize] + offset.
ACCEL_KERNEL void look_up(int* values);
/// Adds one to the managed variable.
ACCEL_KERNEL void bump_managed();
/// Reverses kMostThreads values, with __launch_bounds__(kMostThreads).
ACCEL_KERNEL void bounded(int* values);
/// Moves all values of the grid down by one place; a cooperative launch.
ACCEL_KERNEL void rotate(int* values, int* copy);
/// *address = 1.
ACCEL_KERNEL void write_to(int* address);
/// values[0] = values[0] * values[1], values[2] = values[2] + values[3].
ACCEL_KERNEL void compute(float* values);
/// Each thread takes `bytes` with malloc: pointers[i], which may be null.
ACCEL_KERNEL void take(void** pointers, unsigned long long bytes);
/// *pointers[0] = 1, as an int.
ACCEL_KERNEL void write_behind(void** pointers);
/// Prints a text in shared memory: what printf returned is in *result.
ACCEL_KERNEL void print_shared(int* result);
/// The first half of a warp reads, behind __syncwarp(), what the second half
/// writes in front of another one; values[i] for each lane.
ACCEL_KERNEL void meet(int* values);
/// Stops the kernel with __trap().
ACCEL_KERNEL void trap();

/// What stands for `__constant__ int table[kTableSize] = {10, 20, 30, 40}`.
const void* table_symbol();
/// What stands for `__device__ int offset = 5`.
const void* offset_symbol();
/// `__managed__ int managed = 7`.
int* managed_variable();

/// Launches `add` as <<<blocks, threads>>> does.
void launch_add(int* values, int amount, int count);

/// The address by which the runtime knows a kernel.
template <typename... Parameters>
const void* symbol(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

} // namespace accelerator::cudart::testing
