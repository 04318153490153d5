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

/// Four numbers at once: y = max(x + y, 0).
extern "C" __global__ void vector_relu(int count, const float4* x, float4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const float4 a = x[i];
    float4 b = y[i];
    b.x = fmaxf(a.x + b.x, 0.0f);
    b.y = fmaxf(a.y + b.y, 0.0f);
    b.z = fmaxf(a.z + b.z, 0.0f);
    b.w = fmaxf(a.w + b.w, 0.0f);
    y[i] = b;
  }
}

/// Rows to mean 0 and variance 1, a warp for each row.
extern "C" __global__ void row_norm(int columns, const float* x, float* y) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const float* from = x + row * columns;
  float sum = 0;
  float squares = 0;
  for (int i = lane; i < columns; i += 32) {
    sum += from[i];
    squares += from[i] * from[i];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
    squares += __shfl_xor_sync(0xffffffff, squares, distance);
  }
  const float mean = sum / columns;
  const float scale = 1 / sqrtf(squares / columns - mean * mean + 1e-5f);
  for (int i = lane; i < columns; i += 32) {
    y[row * columns + i] = (from[i] - mean) * scale;
  }
}

/// A layer norm as libraries have it: a block for each row, with weights and a
/// bias.
extern "C" __global__ void layer_norm(
    int columns,
    const float* x,
    const float* weights,
    const float* bias,
    float* y) {
  __shared__ float sums[32];
  __shared__ float squares[32];
  const float* from = x + blockIdx.x * columns;
  float sum = 0;
  float square = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += from[i];
    square += from[i] * from[i];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
    square += __shfl_xor_sync(0xffffffff, square, distance);
  }
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
    squares[threadIdx.x / 32] = square;
  }
  __syncthreads();
  sum = 0;
  square = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) {
    sum += sums[warp];
    square += squares[warp];
  }
  const float mean = sum / columns;
  const float scale = rsqrtf(square / columns - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    y[blockIdx.x * columns + i] =
        (from[i] - mean) * scale * weights[i] + bias[i];
  }
}

/// Each channel with a filter of its own, 3 x 3, zeros around.
extern "C" __global__ void depthwise(
    int height,
    int width,
    const float* x,
    const float* filters,
    float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = blockIdx.y;
  if (i >= height * width) {
    return;
  }
  const int row = i / width;
  const int column = i % width;
  const float* image = x + channel * height * width;
  float sum = 0;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      const int at_row = row + r - 1;
      const int at_column = column + c - 1;
      if (at_row >= 0 && at_row < height && at_column >= 0 &&
          at_column < width) {
        sum += image[at_row * width + at_column] *
            filters[channel * 9 + r * 3 + c];
      }
    }
  }
  y[channel * height * width + i] = sum;
}

/// The windows of 3 x 3 of an image as columns of a matrix.
extern "C" __global__ void columns_of(
    int height,
    int width,
    const float* x,
    float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= height * width) {
    return;
  }
  const int row = i / width;
  const int column = i % width;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      const int at_row = row + r - 1;
      const int at_column = column + c - 1;
      const bool inside =
          at_row >= 0 && at_row < height && at_column >= 0 && at_column < width;
      y[(r * 3 + c) * height * width + i] =
          inside ? x[at_row * width + at_column] : 0.0f;
    }
  }
}
