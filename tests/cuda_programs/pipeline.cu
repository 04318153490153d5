// cuda::pipeline and cuda::barrier: copies that overlap with the work on them,
// and warps that wait for each other in pairs.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "tests/cuda_programs/check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kStages = 3;

__global__ void staged(const float* in, float* out, int batches) {
  __shared__ alignas(16) float buffer[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages>
      state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int fetched = 0;
  for (int batch = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(
          block,
          buffer[fetched % kStages],
          in + fetched * kThreads,
          cuda::aligned_size_t<16>(kThreads * sizeof(float)),
          pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    // A neighbour's number: it came by another thread's copy.
    const float* now = buffer[batch % kStages];
    out[batch * kThreads + threadIdx.x] = 2 * now[(threadIdx.x + 1) % kThreads];
    pipeline.consumer_release();
  }
}

// The first warp produces, the second consumes.
__global__ void roles(const int* in, int* out, int batches) {
  __shared__ int buffer[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer
                                     : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  const int lane = threadIdx.x % 32;
  for (int batch = 0; batch < batches; ++batch) {
    if (threadIdx.x < 32) {
      pipeline.producer_acquire();
      cuda::memcpy_async(
          &buffer[batch % 2][lane],
          in + batch * 32 + lane,
          sizeof(int),
          pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      out[batch * 32 + lane] = buffer[batch % 2][31 - lane] + 1;
      pipeline.consumer_release();
    }
  }
}

// Split arrive and wait, and an asynchronous copy that a barrier waits for.
__global__ void barriers(const int* in, int* out, int rounds) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier ready;
  __shared__ Barrier copied;
  __shared__ int values[kThreads];
  __shared__ int fetched[kThreads];
  const int i = threadIdx.x;
  if (i == 0) {
    init(&ready, kThreads);
    init(&copied, kThreads);
  }
  __syncthreads();
  const auto block = cg::this_thread_block();
  cuda::memcpy_async(block, fetched, in, sizeof(int) * kThreads, copied);
  copied.arrive_and_wait();
  int mine = fetched[kThreads - 1 - i];
  for (int round = 0; round < rounds; ++round) {
    values[i] = mine;
    auto token = ready.arrive();
    mine *= 3;
    ready.wait(std::move(token));
    mine += values[(i + 1) % kThreads];
    ready.arrive_and_wait();
  }
  out[i] = mine;
}

__global__ void simple_copy(const int* in, int* out) {
  extern __shared__ int memory[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, memory, in, sizeof(int) * 2 * kThreads);
  cg::wait(block);
  out[threadIdx.x] =
      memory[threadIdx.x] - memory[2 * kThreads - 1 - threadIdx.x];
  auto own = cuda::make_pipeline();
  cuda::memcpy_async(memory + threadIdx.x, in + 2 * threadIdx.x, 4, own);
  own.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(own);
  own.consumer_release();
  out[threadIdx.x] += memory[threadIdx.x];
}

int main() {
  constexpr int kBatches = 9;
  constexpr int kCount = kBatches * kThreads;
  std::vector<float> floats(kCount);
  std::vector<int> ints(kCount);
  for (int i = 0; i < kCount; ++i) {
    floats[i] = i * 0.25f;
    ints[i] = i * 5 % 97;
  }
  const int* in = to_device(ints);

  float* doubled = to_device(std::vector<float>(kCount));
  staged<<<1, kThreads>>>(to_device(floats), doubled, kBatches);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<float> staged_out = to_host(doubled, kCount);
  for (int i = 0; i < kCount; ++i) {
    const int from = i / kThreads * kThreads + (i + 1) % kThreads;
    expect_equal("staged", i, staged_out[i], 2 * floats[from]);
  }

  int* out = to_device(std::vector<int>(kCount));
  roles<<<1, 64>>>(in, out, 2 * kBatches);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<int> roles_out = to_host(out, kCount);
  for (int i = 0; i < kCount; ++i) {
    expect_equal("roles", i, roles_out[i], ints[i / 32 * 32 + 31 - i % 32] + 1);
  }

  constexpr int kRounds = 5;
  barriers<<<1, kThreads>>>(in, out, kRounds);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<int> rounds_out = to_host(out, kThreads);
  std::vector<int> now(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    now[i] = ints[kThreads - 1 - i];
  }
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<int> before = now;
    for (int i = 0; i < kThreads; ++i) {
      now[i] = 3 * before[i] + before[(i + 1) % kThreads];
    }
  }
  for (int i = 0; i < kThreads; ++i) {
    expect_equal("rounds", i, rounds_out[i], now[i]);
  }

  simple_copy<<<1, kThreads, sizeof(int) * 2 * kThreads>>>(in, out);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<int> copied = to_host(out, kThreads);
  for (int i = 0; i < kThreads; ++i) {
    expect_equal(
        "copied",
        i,
        copied[i],
        ints[i] - ints[2 * kThreads - 1 - i] + ints[2 * i]);
  }
}
