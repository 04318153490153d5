// Graphs: captured from streams that fork and join, updated, and built by hand.
#include "tests/cuda_programs/check.h"

__global__ void add(int* values, int count, int summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] += summand;
  }
}

__global__ void multiply(int* values, const int* factors, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] *= factors[i];
  }
}

constexpr int kCount = 1000;
constexpr int kBlocks = 8;

void note(void* calls) {
  ++*static_cast<int*>(calls);
}

struct Buffers {
  int* values;
  int* factors;
  int* calls;
};

cudaGraph_t capture(cudaStream_t first, const Buffers& buffers, int summand) {
  cudaStream_t second;
  cudaEvent_t forked;
  cudaEvent_t joined;
  CHECK_CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK_CUDA(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  CHECK_CUDA(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  CHECK_CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
  CHECK_CUDA(cudaMemsetAsync(buffers.values, 0, kCount * sizeof(int), first));
  CHECK_CUDA(cudaEventRecord(forked, first));
  CHECK_CUDA(cudaStreamWaitEvent(second, forked, 0));
  add<<<kBlocks, 128, 0, first>>>(buffers.values, kCount, summand);
  CHECK_CUDA(cudaMemsetAsync(buffers.factors, 0, kCount * sizeof(int), second));
  add<<<kBlocks, 128, 0, second>>>(buffers.factors, kCount, 3);
  CHECK_CUDA(cudaEventRecord(joined, second));
  CHECK_CUDA(cudaStreamWaitEvent(first, joined, 0));
  multiply<<<kBlocks, 128, 0, first>>>(buffers.values, buffers.factors, kCount);
  CHECK_CUDA(cudaLaunchHostFunc(first, note, buffers.calls));
  cudaGraph_t graph;
  CHECK_CUDA(cudaStreamEndCapture(first, &graph));
  CHECK_CUDA(cudaEventDestroy(forked));
  CHECK_CUDA(cudaEventDestroy(joined));
  CHECK_CUDA(cudaStreamDestroy(second));
  return graph;
}

void replay(
    const char* what,
    cudaGraphExec_t executable,
    cudaStream_t stream,
    const int* values,
    int expected) {
  CHECK_CUDA(cudaGraphLaunch(executable, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  for (const int found : to_host(values, kCount)) {
    expect_equal(what, 0, found, expected);
  }
}

int main() {
  int calls = 0;
  Buffers buffers{
      to_device(std::vector<int>(kCount, 99)),
      to_device(std::vector<int>(kCount, 99)),
      &calls};
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));

  cudaGraph_t graph = capture(stream, buffers, 5);
  expect_equal("nothing ran while captured", 0, calls, 0);
  expect_equal("nor this", 0, to_host(buffers.values, 1)[0], 99);
  std::size_t nodes = 0;
  CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect_equal("nodes", 0, nodes, std::size_t{6});
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  replay("captured", executable, stream, buffers.values, 15);
  replay("replayed", executable, stream, buffers.values, 15);
  expect_equal("calls", 0, calls, 2);

  cudaGraph_t other = capture(stream, buffers, 7);
  cudaGraphExecUpdateResultInfo changed;
  CHECK_CUDA(cudaGraphExecUpdate(executable, other, &changed));
  expect_equal(
      "result",
      0,
      static_cast<int>(changed.result),
      static_cast<int>(cudaGraphExecUpdateSuccess));
  replay("updated", executable, stream, buffers.values, 21);

  // By hand: a copy from the host, then a kernel whose parameters change.
  const std::vector<int> ones(kCount, 1);
  cudaGraph_t built;
  CHECK_CUDA(cudaGraphCreate(&built, 0));
  cudaGraphNode_t copy;
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(
      &copy,
      built,
      nullptr,
      0,
      buffers.values,
      ones.data(),
      kCount * sizeof(int),
      cudaMemcpyHostToDevice));
  int count = kCount;
  int summand = 10;
  void* arguments[] = {&buffers.values, &count, &summand};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(add);
  parameters.gridDim = dim3(kBlocks);
  parameters.blockDim = dim3(128);
  parameters.kernelParams = arguments;
  cudaGraphNode_t kernel;
  CHECK_CUDA(cudaGraphAddKernelNode(&kernel, built, &copy, 1, &parameters));
  cudaGraphExec_t built_executable;
  CHECK_CUDA(cudaGraphInstantiate(&built_executable, built, 0));
  summand = 1000; // the node has its own copy of 10
  replay("built", built_executable, stream, buffers.values, 11);
  CHECK_CUDA(
      cudaGraphExecKernelNodeSetParams(built_executable, kernel, &parameters));
  replay("new parameters", built_executable, stream, buffers.values, 1001);

  CHECK_CUDA(cudaGraphExecDestroy(built_executable));
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(built));
  CHECK_CUDA(cudaGraphDestroy(other));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_CUDA(cudaStreamDestroy(stream));
}
