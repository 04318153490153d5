// The kernels that bench/cudasim measures: one for each way in which programs
// spend their time.

/// Elementwise, bound by loads and stores: y = a x + y.
extern "C" __global__ void elementwise(
    int count,
    float a,
    const float* x,
    float* y) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    y[i] = a * x[i] + y[i];
  }
}

/// A sum: loads, additions, shuffles and one atomic of each block.
extern "C" __global__ void reduction(int count, const float* x, float* sum) {
  __shared__ float partial[32];
  const int step = gridDim.x * blockDim.x;
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    value += x[i];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffff, value, distance);
  }
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float block = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) {
      block += partial[warp];
    }
    atomicAdd(sum, block);
  }
}

constexpr int kTile = 16;

/// c = a b for square matrices, by tiles in shared memory.
extern "C" __global__ void matmul(
    int size,
    const float* a,
    const float* b,
    float* c) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < size; start += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * size + start + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    }
    __syncthreads();
  }
  c[row * size + column] = sum;
}
