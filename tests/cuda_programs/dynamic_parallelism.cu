// Kernels that launch kernels: recursion, the order of streams, tail launches,
// limits, what the device runtime tells, graphs. Compiled with -rdc=true.
#include <cstring>
#include <numeric>

#include "tests/cuda_programs/check.h"

namespace {

// The sum of a range: halves are summed by children, and added behind them.
__global__ void add_halves(const long* left, const long* right, long* sum) {
  *sum = *left + *right;
}

__global__ void sum_range(const int* values, int count, long* sums, int place) {
  if (count <= 8) {
    long sum = 0;
    for (int i = 0; i < count; ++i) {
      sum += values[i];
    }
    sums[place] = sum;
    return;
  }
  const int half = count / 2;
  cudaStream_t streams[2];
  for (int i = 0; i < 2; ++i) {
    cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    sum_range<<<1, 1, 0, streams[i]>>>(
        values + i * half,
        i == 0 ? half : count - half,
        sums,
        2 * place + 1 + i);
    cudaStreamDestroy(streams[i]);
  }
  add_halves<<<1, 1, 0, cudaStreamTailLaunch>>>(
      sums + 2 * place + 1, sums + 2 * place + 2, sums + place);
}

void check_recursion() {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), -300);
  const int* numbers = to_device(values);
  long* sums = to_device(std::vector<long>(1024));
  sum_range<<<1, 1>>>(numbers, 1000, sums, 0);
  CHECK_CUDA(cudaGetLastError());
  expect_equal(
      "sum",
      0,
      to_host(sums, 1)[0],
      std::accumulate(values.begin(), values.end(), 0L));
}

// Parameters of all sizes, and dynamic shared memory.
struct Odd {
  char character;
  double number;
  short three[3];
};

template <typename T>
__global__ void scale(char factor, Odd odd, T summand, T* out) {
  extern __shared__ int shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = odd.three[i % 3] * factor;
  __syncthreads();
  const int other = shared[blockDim.x - 1 - threadIdx.x];
  out[i] = static_cast<T>(
      other + odd.character + odd.number + static_cast<double>(summand));
}

__global__ void pass_parameters(float* out) {
  Odd odd{'\x05', 0.25, {1, 20, 300}};
  scale<float><<<2, 6, 6 * sizeof(int)>>>(2, odd, 0.5f, out);
}

void check_parameters() {
  float* out = to_device(std::vector<float>(12));
  pass_parameters<<<1, 1>>>(out);
  const std::vector<float> found = to_host(out, 12);
  const int three[] = {1, 20, 300};
  for (int i = 0; i < 12; ++i) {
    const int other = i / 6 * 6 + 5 - i % 6;
    expect_equal("scaled", i, found[i], 2 * three[other % 3] + 5.75f);
  }
}

// What ran, in its order.
__global__ void append(int digit, int* number) {
  *number = *number * 10 + digit;
}

__global__ void in_order(int* numbers) {
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(4, numbers);
  append<<<1, 1>>>(1, numbers);
  append<<<1, 1>>>(2, numbers);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(5, numbers);
  append<<<1, 1>>>(3, numbers);
  // By an event.
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  append<<<1, 1, 0, stream>>>(1, numbers + 1);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(0, event, 0);
  append<<<1, 1>>>(2, numbers + 1);
  cudaMemcpyAsync(
      numbers + 2, numbers + 1, sizeof(int), cudaMemcpyDeviceToDevice);
  append<<<1, 1>>>(3, numbers + 1);
  cudaMemsetAsync(numbers + 3, 1, sizeof(int));
  numbers[4] = cudaGetLastError();
}

void check_order(int* numbers, int times) {
  const int right[] = {12345, 123, 12, 0x01010101, 0};
  const std::vector<int> found = to_host(numbers, 5);
  for (int i = 0; i < 5; ++i) {
    long expected = right[i];
    if (i < 2 && times == 2) { // without a reset, it goes on
      expected = i == 0 ? 1234512345L : 123123;
    } else if (i == 2 && times == 2) {
      expected = 12312;
    }
    expect_equal("order", i, found[i], static_cast<int>(expected));
  }
}

void check_streams_and_graphs() {
  int* numbers = to_device(std::vector<int>(5));
  in_order<<<1, 1>>>(numbers);
  check_order(numbers, 1);
  CHECK_CUDA(cudaMemset(numbers, 0, 5 * sizeof(int)));
  CHECK_CUDA(cudaDeviceSynchronize());
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  in_order<<<1, 1, 0, stream>>>(numbers);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int times = 1; times <= 2; ++times) {
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    check_order(numbers, times);
  }
}

// How many of many launches work.
__global__ void count(int* launched) {
  atomicAdd(launched, 1);
}

__global__ void launch_many(int* launched, int* statuses) {
  count<<<1, 1, 0, cudaStreamFireAndForget>>>(launched);
  statuses[threadIdx.x] = cudaGetLastError();
}

void check_limit(int limit, int threads) {
  CHECK_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, limit));
  int* launched = to_device(std::vector<int>(1));
  int* statuses = to_device(std::vector<int>(threads));
  launch_many<<<1, threads>>>(launched, statuses);
  int well = 0;
  for (const int status : to_host(statuses, threads)) {
    well += status == cudaSuccess ? 1 : 0;
    if (status != cudaSuccess) {
      expect_equal<int>(
          "status", limit, status, cudaErrorLaunchPendingCountExceeded);
    }
  }
  expect_equal("launches", limit, well, limit < threads ? limit : threads);
  expect_equal("children", limit, to_host(launched, 1)[0], well);
}

// What the device runtime tells, as the host's does.
struct Told {
  int device;
  int devices;
  int multiprocessors;
  int unknown; // statuses
  int configuration;
  int again;
  size_t limit;
  size_t shared;
  int threads;
  char text[64];
  char name[64];
};

__device__ void copy_text(char* to, const char* from) {
  while ((*to++ = *from++) != '\0') {
  }
}

__global__ void __launch_bounds__(96) bounded() {
  __shared__ int room[25];
  room[threadIdx.x % 25] = 0;
}

__global__ void tell(Told* told) {
  cudaGetDevice(&told->device);
  cudaGetDeviceCount(&told->devices);
  cudaDeviceGetAttribute(
      &told->multiprocessors, cudaDevAttrMultiProcessorCount, told->device);
  int value = 0;
  told->unknown = cudaDeviceGetAttribute(
      &value, static_cast<cudaDeviceAttr>(100000), told->device);
  cudaGetLastError();
  cudaDeviceGetLimit(&told->limit, cudaLimitDevRuntimePendingLaunchCount);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, bounded);
  told->shared = attributes.sharedSizeBytes;
  told->threads = attributes.maxThreadsPerBlock;
  bounded<<<0, 1>>>();
  told->configuration = cudaPeekAtLastError();
  copy_text(told->text, cudaGetErrorString(cudaGetLastError()));
  copy_text(told->name, cudaGetErrorName(cudaErrorInvalidConfiguration));
  told->again = cudaGetLastError();
}

void check_queries() {
  Told* told = to_device(std::vector<Told>(1));
  tell<<<1, 1>>>(told);
  const Told found = to_host(told, 1)[0];
  int device = 0;
  int devices = 0;
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  size_t limit = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, bounded));
  CHECK_CUDA(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
  expect_equal("device", 0, found.device, device);
  expect_equal("devices", 0, found.devices, devices);
  expect_equal(
      "processors", 0, found.multiprocessors, properties.multiProcessorCount);
  expect_equal<int>("unknown", 0, found.unknown, cudaErrorInvalidValue);
  expect_equal("limit", 0, found.limit, limit);
  expect_equal("shared", 0, found.shared, attributes.sharedSizeBytes);
  expect_equal("threads", 0, found.threads, attributes.maxThreadsPerBlock);
  expect_equal<int>(
      "configuration", 0, found.configuration, cudaErrorInvalidConfiguration);
  expect_equal<int>("again", 0, found.again, cudaSuccess);
  const cudaError_t error = cudaErrorInvalidConfiguration;
  if (std::strcmp(found.text, cudaGetErrorString(error)) != 0 ||
      std::strcmp(found.name, cudaGetErrorName(error)) != 0) {
    std::printf("texts: found '%s', '%s'\n", found.text, found.name);
    std::exit(1);
  }
}

// Memory of the device's heap goes from parent to child.
__global__ void fill_and_free(int* values, int count, int* sum) {
  for (int i = 0; i < count; ++i) {
    *sum += values[i];
  }
  cudaFree(values);
}

__global__ void allocate(int* sum) {
  int* values = nullptr;
  if (cudaMalloc(&values, 40) == cudaSuccess) {
    for (int i = 0; i < 10; ++i) {
      values[i] = i * i;
    }
    fill_and_free<<<1, 1>>>(values, 10, sum);
  }
}

void check_heap() {
  int* sum = to_device(std::vector<int>(1));
  allocate<<<1, 1>>>(sum);
  expect_equal("heap", 0, to_host(sum, 1)[0], 285);
}

} // namespace

int main() {
  check_recursion();
  check_parameters();
  check_streams_and_graphs();
  check_limit(16, 100);
  check_limit(3000, 1000);
  check_limit(999, 1000);
  check_queries();
  check_heap();
  std::printf("ok\n");
  return 0;
}
