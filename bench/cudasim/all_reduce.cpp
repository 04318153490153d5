// How fast the simulated NCCL is: all-reduce between processes against memcpy.
//
//   ./bazelw run //bench/cudasim:all_reduce -- [MEGABYTES [PROCESSES [TIMES]]]
//
// Each line is one run: one memcpy of the bytes by one process that has the
// machine for itself, then an all-reduce of them, in place, by all processes.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t kMega = 1 << 20;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
      1e-9 * static_cast<double>(now.tv_nsec);
}

/// What something takes: of the clock on the wall, and of this process's time
/// on processors, which other programs disturb less.
struct Cost {
  double wall = 0;
  double processor = 0;
};

template <typename Work>
Cost cost_of(Work work) {
  const double wall = seconds(CLOCK_MONOTONIC);
  const double processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {
      seconds(CLOCK_MONOTONIC) - wall,
      seconds(CLOCK_PROCESS_CPUTIME_ID) - processor};
}

template <typename Status>
void require(Status status, const char* what) {
  if (status != 0) {
    std::fprintf(
        stderr, "%s: status %d %s\n", what, status, ncclGetLastError(nullptr));
    std::exit(1);
  }
}

/// One rank; the first one measures and prints.
void run_rank(
    const ncclUniqueId& id,
    int rank,
    int ranks,
    std::size_t bytes,
    int times) {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float* data = nullptr;
  require(cudaSetDevice(rank), "cudaSetDevice");
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  require(cudaMalloc(reinterpret_cast<void**>(&data), bytes), "cudaMalloc");
  require(cudaMemset(data, 0, bytes), "cudaMemset");
  require(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
  std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes, 2);
  const auto reduce = [&](std::size_t count) {
    require(
        ncclAllReduce(data, data, count, ncclFloat32, ncclSum, comm, stream),
        "ncclAllReduce");
    require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  reduce(bytes / sizeof(float)); // opens the memory of the others
  for (int i = 0; i < times; ++i) {
    Cost copy;
    reduce(1); // all are here
    if (rank == 0) {
      copy = cost_of([&] { std::memcpy(to.data(), from.data(), bytes); });
      // The compiler may not leave the copy out.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      from[static_cast<std::size_t>(i) % bytes] = to[bytes / 2];
    }
    reduce(1);
    const Cost all = cost_of([&] { reduce(bytes / sizeof(float)); });
    if (rank == 0) {
      std::printf(
          "memcpy %7.2f ms, all-reduce %7.2f ms, ratio of speeds %.2f, by "
          "processor time of a rank %.2f\n",
          copy.wall * 1e3,
          all.wall * 1e3,
          copy.wall / all.wall,
          copy.processor / all.processor);
    }
  }
  require(ncclCommDestroy(comm), "ncclCommDestroy");
}

} // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise;
  };
  const std::size_t bytes = static_cast<std::size_t>(argument(1, 64)) * kMega;
  const int ranks = argument(2, 2);
  const int times = argument(3, 10);
  setenv("CUDASIM_DEVICES", std::to_string(ranks).c_str(), 0);
  ncclUniqueId id;
  require(ncclGetUniqueId(&id), "ncclGetUniqueId");
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() == 0) {
      run_rank(id, rank, ranks, bytes, times);
      return 0;
    }
  }
  int result = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    wait(&status);
    result |= status;
  }
  return result == 0 ? 0 : 1;
}
