// cuda::atomic: producers and consumers in different blocks, a ticket lock, and
// the operations that have no instruction of their own.
#include <cuda/atomic>

#include <algorithm>

#include "tests/cuda_programs/check.h"

using Flag = cuda::atomic<int, cuda::thread_scope_device>;
using Counter = cuda::atomic_ref<long long, cuda::thread_scope_device>;

constexpr int kItems = 200;

// Block 0 produces, block 1 consumes, through a ring of four places.
__global__ void hand_over(int* ring, Flag* written, Flag* read, int* results) {
  if (threadIdx.x != 0) {
    return;
  }
  for (int i = 0; i < kItems; ++i) {
    if (blockIdx.x == 0) {
      while (i - read->load(cuda::std::memory_order_acquire) >= 4) {
      }
      ring[i % 4] = i * i;
      written->store(i + 1, cuda::std::memory_order_release);
    } else {
      while (written->load(cuda::std::memory_order_acquire) <= i) {
      }
      results[i] = ring[i % 4];
      read->store(i + 1, cuda::std::memory_order_release);
    }
  }
}

struct Tickets {
  Flag next;
  Flag served;
};

// Every thread of every block, one after the other, lanes of a warp too.
__global__ void take_turns(Tickets* tickets, volatile int* count) {
  const int mine = tickets->next.fetch_add(1, cuda::std::memory_order_relaxed);
  while (tickets->served.load(cuda::std::memory_order_acquire) != mine) {
    __nanosleep(20);
  }
  *count = *count + 1;
  tickets->served.store(mine + 1, cuda::std::memory_order_release);
}

__global__ void spin_lock(int* lock, volatile int* count) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count = *count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

struct Sums {
  long long wide;
  double real;
  float product;
  unsigned largest;
  int least;
  unsigned bits;
  unsigned wrapped;
};

__global__ void accumulate(Sums* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Counter(sums->wide).fetch_add(i * 1000000007ll);
  cuda::atomic_ref<double, cuda::thread_scope_device>(sums->real)
      .fetch_add(i * 0.5);
  cuda::atomic_ref<float, cuda::thread_scope_device> product(sums->product);
  if (i < 20) {
    float old = product.load();
    while (!product.compare_exchange_weak(old, old * 2)) {
    }
  }
  cuda::atomic_ref<unsigned, cuda::thread_scope_device>(sums->largest)
      .fetch_max(i * 7u % 1001);
  atomicMin(&sums->least, -i);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device>(sums->bits)
      .fetch_xor(1u << i % 31);
  atomicInc(&sums->wrapped, 9);
}

int main() {
  int* words = to_device(std::vector<int>(16));
  Flag* flags = reinterpret_cast<Flag*>(words + 4);
  int* results = to_device(std::vector<int>(kItems));
  hand_over<<<2, 32>>>(words, flags, flags + 1, results);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<int> found = to_host(results, kItems);
  for (int i = 0; i < kItems; ++i) {
    expect_equal("handed over", i, found[i], i * i);
  }

  Tickets* tickets = reinterpret_cast<Tickets*>(words + 8);
  take_turns<<<3, 40>>>(tickets, words + 12);
  CHECK_CUDA(cudaGetLastError());
  expect_equal("turns", 0, to_host(words + 12, 1)[0], 120);
  spin_lock<<<3, 40>>>(words + 13, words + 14);
  CHECK_CUDA(cudaGetLastError());
  expect_equal("locked", 0, to_host(words + 14, 1)[0], 120);

  Sums* sums = to_device(std::vector<Sums>{{0, 0, 1, 0, 0, 0, 0}});
  accumulate<<<5, 100>>>(sums);
  CHECK_CUDA(cudaGetLastError());
  const Sums total = to_host(sums, 1)[0];
  const int all = 500 * 499 / 2;
  unsigned bits = 0;
  unsigned largest = 0;
  for (unsigned i = 0; i < 500; ++i) {
    bits ^= 1u << i % 31;
    largest = std::max(largest, i * 7 % 1001);
  }
  expect_equal("wide", 0, total.wide, all * 1000000007ll);
  expect_equal("real", 0, total.real, all * 0.5);
  expect_equal("product", 0, total.product, 1048576.0f);
  expect_equal("largest", 0, total.largest, largest);
  expect_equal("least", 0, total.least, -499);
  expect_equal("bits", 0, total.bits, bits);
  expect_equal("wrapped", 0, total.wrapped, 0u);
}
