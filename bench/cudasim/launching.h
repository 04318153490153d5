// One launch of a kernel on the engine, as the benches make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "bench/cudasim/buffers.h"
#include "cudasim/engine/launch/launch.h"
#include "cudasim/engine/module/module.h"

namespace bench_cudasim {

struct Case {
  std::string kernel;
  cudasim::engine::Dim3 grid;
  cudasim::engine::Dim3 block;
  std::vector<std::uint64_t> arguments; // as 64 bits each
};

[[noreturn]] inline void fail(const std::string& message) {
  std::cerr << "bench/cudasim: " << message << "\n";
  std::exit(1);
}

inline std::uint64_t address_of(const float* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

/// Runs a kernel; ends the program where it faults.
/// @param now the seconds of a clock. @param seconds is set to what passed.
template <typename Clock>
cudasim::engine::Outcome launch(
    cudasim::engine::Module& module,
    Buffers& buffers,
    const Case& bench,
    unsigned workers,
    Clock now,
    double* seconds) {
  const cudasim::engine::Kernel* kernel = module.kernel(bench.kernel);
  if (kernel == nullptr) {
    fail("no kernel " + bench.kernel);
  }
  const cudasim::engine::KernelInfo& info = module.info(*kernel);
  std::vector<std::byte> parameters(info.parameter_bytes);
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    std::memcpy(
        parameters.data() + info.parameters[i].offset,
        &bench.arguments[i],
        info.parameters[i].size);
  }
  cudasim::engine::Launch launch;
  launch.module = &module;
  launch.kernel = kernel;
  launch.grid = bench.grid;
  launch.block = bench.block;
  launch.parameters = parameters.data();
  launch.workers = workers;
  launch.device.memory = &buffers;
  const double begin = now();
  cudasim::engine::Outcome outcome = run(launch);
  *seconds = now() - begin;
  if (outcome.fault != cudasim::engine::FaultKind::kNone) {
    fail(bench.kernel + ": " + outcome.report);
  }
  return outcome;
}

} // namespace bench_cudasim
