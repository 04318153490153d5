// Kernels interpreted and as native code, in turn.
//
//   native KERNELS.ptx REPEATS [KERNEL]
//
// Prints a line for each kernel: thread instructions of a launch, the medians
// of their rates in 10^9 a second of processor time, interpreted and native,
// and the median of the ratios of neighbouring launches. What both leave in
// memory is compared; a difference ends the program with status 1. CUDASIM_LLVM
// is the path of llvmlite's library.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/cudasim/buffers.h"
#include "bench/cudasim/launching.h"
#include "cudasim/engine/launch/launch.h"
#include "cudasim/engine/module/module.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/native/background.h"

namespace {

using bench_cudasim::Buffers;
using namespace cudasim::engine;

using bench_cudasim::address_of;
using bench_cudasim::fail;

struct Case : bench_cudasim::Case {
  float* output;
  std::size_t count; // of the output
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
      1e-9 * static_cast<double>(time.tv_nsec);
}

std::uint64_t launch(
    Module& module,
    Buffers& buffers,
    const Case& bench,
    double* seconds) {
  std::memset(bench.output, 0, bench.count * sizeof(float));
  return bench_cudasim::launch(
             module, buffers, bench, 1, processor_seconds, seconds)
      .thread_instructions;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || std::atoi(argv[2]) < 1) {
    fail("needs: native KERNELS.ptx REPEATS [KERNEL]");
  }
  std::ifstream file(argv[1]);
  std::stringstream ptx;
  ptx << file.rdbuf();
  if (!file) {
    fail(std::string("cannot read ") + argv[1]);
  }
  Buffers buffers;
  const auto load = [&](NativeMode mode) {
    set_native_mode(mode);
    auto module = Module::load(
        ptx.str(),
        argv[1],
        [&](std::uint64_t bytes, std::uint64_t, bool, std::string_view) {
          return buffers.allocate(bytes);
        });
    for (const std::string& name : module->kernel_names()) {
      module->kernel(name); // the mode counts when a kernel is lowered
    }
    return module;
  };
  const auto interpreted = load(NativeMode::kOff);
  const auto native = load(NativeMode::kAuto);
  // A megabyte each: processors have it in a cache, so that what is measured is
  // not their memory.
  constexpr std::size_t kCount = 1 << 18;
  float* const x = buffers.floats(kCount);
  float* const y = buffers.floats(9 * kCount);
  float* const filters = buffers.floats(64 * 9);
  float* const weights = buffers.floats(1024);
  float* const bias = buffers.floats(1024);
  for (std::size_t i = 0; i < kCount; ++i) {
    x[i] = static_cast<float>(i % 1013) * 0.25f - 100.0f;
  }
  for (std::size_t i = 0; i < 64 * 9; ++i) {
    filters[i] = static_cast<float>(i % 11) - 5.0f;
  }
  for (std::size_t i = 0; i < 1024; ++i) {
    weights[i] = static_cast<float>(i % 7) * 0.5f;
    bias[i] = static_cast<float>(i % 5) - 2.0f;
  }
  const std::uint64_t from = address_of(x);
  const std::uint64_t to = address_of(y);
  std::uint32_t half = 0;
  constexpr float kHalf = 0.5f;
  std::memcpy(&half, &kHalf, sizeof(half));
  const std::vector<Case> cases = {
      {{"elementwise", {64, 1, 1}, {256, 1, 1}, {kCount, half, from, to}},
       y,
       kCount},
      {{"vector_relu", {256, 1, 1}, {256, 1, 1}, {kCount / 4, from, to}},
       y,
       kCount},
      {{"reduction", {16, 1, 1}, {256, 1, 1}, {kCount, from, to}}, y, 1},
      {{"row_norm", {64, 1, 1}, {128, 1, 1}, {1024, from, to}}, y, kCount},
      {{"layer_norm",
        {256, 1, 1},
        {128, 1, 1},
        {1024, from, address_of(weights), address_of(bias), to}},
       y,
       kCount},
      {{"depthwise",
        {64, 16, 1},
        {256, 1, 1},
        {128, 128, from, address_of(filters), to}},
       y,
       kCount},
      {{"columns_of", {1024, 1, 1}, {256, 1, 1}, {512, 512, from, to}},
       y,
       9 * kCount},
      {{"matmul", {16, 16, 1}, {16, 16, 1}, {256, from, from, to}}, y, 65536},
  };
  const int repeats = std::atoi(argv[2]);
  for (const Case& bench : cases) {
    if (argc == 4 && bench.kernel != argv[3]) {
      continue;
    }
    // So often that auto has made code of all that it will: a warp comes by
    // once at what is in no loop.
    const bool exact = bench.kernel != "reduction"; // sums in any order
    double seconds = 0;
    std::vector<float> expected;
    for (int i = 0; i < 600; ++i) {
      launch(*native, buffers, bench, &seconds);
      cudasim::native::Background::instance().wait();
    }
    launch(*interpreted, buffers, bench, &seconds);
    expected.assign(bench.output, bench.output + bench.count);
    std::vector<double> slow;
    std::vector<double> quick;
    std::vector<double> ratios;
    std::uint64_t instructions = 0;
    for (int i = 0; i < repeats; ++i) {
      double plain = 0;
      instructions = launch(*interpreted, buffers, bench, &plain);
      launch(*native, buffers, bench, &seconds);
      if (exact &&
          std::memcmp(
              expected.data(), bench.output, bench.count * sizeof(float)) !=
              0) {
        fail(bench.kernel + ": native code has another result");
      }
      const auto count = static_cast<double>(instructions) / 1e9;
      slow.push_back(count / plain);
      quick.push_back(count / seconds);
      ratios.push_back(plain / seconds);
    }
    std::printf(
        "%-12s %10llu %8.2f %8.2f %6.2f\n",
        bench.kernel.c_str(),
        static_cast<unsigned long long>(instructions),
        median(slow),
        median(quick),
        median(ratios));
  }
  return 0;
}
