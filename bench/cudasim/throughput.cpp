// How many thread instructions a second the simulated device executes.
//
//   throughput KERNELS.ptx REPEATS
//
// Prints a line for each kernel and number of host threads: kernel, threads,
// thread instructions of one launch, and the median, lowest and highest rate of
// REPEATS launches in instructions a second. Runs with different numbers of
// threads take turns, so that what else the machine does meets all of them.
// CUDASIM_ISA chooses the instructions of the host. Results are checked; a
// wrong one ends the program with status 1.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "bench/cudasim/buffers.h"
#include "bench/cudasim/launching.h"
#include "cudasim/engine/launch/launch.h"
#include "cudasim/engine/module/module.h"

namespace {

using namespace cudasim::engine;

using bench_cudasim::address_of;
using bench_cudasim::Buffers;
using bench_cudasim::Case;
using bench_cudasim::fail;
using bench_cudasim::launch;

double clock_seconds() {
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now().time_since_epoch();
  return passed.count();
}

std::uint64_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

void measure(Module& module, Buffers& buffers, const Case& bench, int repeats) {
  const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  std::map<unsigned, std::vector<double>> rates;
  std::uint64_t instructions = 0;
  for (int i = -1; i < repeats; ++i) { // the first one warms up
    for (unsigned workers = 1; workers <= processors; ++workers) {
      double seconds = 0;
      const Outcome outcome =
          launch(module, buffers, bench, workers, clock_seconds, &seconds);
      instructions = outcome.thread_instructions;
      if (i >= 0) {
        rates[workers].push_back(static_cast<double>(instructions) / seconds);
      }
    }
  }
  for (auto& [workers, values] : rates) {
    std::sort(values.begin(), values.end());
    std::printf(
        "%s %u %llu %.4g %.4g %.4g\n",
        bench.kernel.c_str(),
        workers,
        static_cast<unsigned long long>(instructions),
        values[values.size() / 2],
        values.front(),
        values.back());
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::atoi(argv[2]) < 1) {
    fail("needs: throughput KERNELS.ptx REPEATS");
  }
  std::ifstream file(argv[1]);
  std::stringstream ptx;
  ptx << file.rdbuf();
  if (!file) {
    fail(std::string("cannot read ") + argv[1]);
  }
  Buffers buffers;
  const auto module = Module::load(
      ptx.str(),
      argv[1],
      [&](std::uint64_t bytes, std::uint64_t, bool, std::string_view) {
        return buffers.allocate(bytes);
      });
  constexpr int kCount = 1 << 20;
  constexpr int kSize = 256;
  constexpr unsigned kTiles = kSize / 16;
  float* x = buffers.floats(kCount);
  float* y = buffers.floats(kCount);
  float* sum = buffers.floats(1);
  float* a = buffers.floats(kSize * kSize);
  float* b = buffers.floats(kSize * kSize);
  float* c = buffers.floats(kSize * kSize);
  std::fill_n(x, kCount, 1.0f);
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  const int repeats = std::atoi(argv[2]);
  measure(
      *module,
      buffers,
      {"elementwise",
       {256, 1, 1},
       {256, 1, 1},
       {kCount, bits_of(1.0f), address_of(x), address_of(y)}},
      repeats);
  measure(
      *module,
      buffers,
      {"reduction",
       {64, 1, 1},
       {256, 1, 1},
       {kCount, address_of(x), address_of(sum)}},
      repeats);
  measure(
      *module,
      buffers,
      {"matmul",
       {kTiles, kTiles, 1},
       {16, 16, 1},
       {kSize, address_of(a), address_of(b), address_of(c)}},
      repeats);
  const auto launches = static_cast<float>(
      (repeats + 1) *
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  float expected = 0;
  for (int k = 0; k < kSize; ++k) {
    expected += a[3 * kSize + k] * b[k * kSize + 5];
  }
  if (y[kCount - 1] != launches || c[3 * kSize + 5] != expected ||
      std::fabs(*sum / (launches * kCount) - 1) > 1e-3f) {
    fail("a kernel gave a wrong result");
  }
  return 0;
}
