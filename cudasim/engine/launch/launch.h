// Launches a kernel: what a launch is given, and how it ends. Nothing of CUDA's
// API, nor of the device ABI, is known here (cudasim/backend is above it).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/engine/code/dim3.h"
#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/state/fault.h"

namespace cudasim::engine {

class Findings; // engine/check/findings.h
class InstructionCounts; // engine/counts/instruction_counts.h
class Kernel;
class Kernels; // engine/code/kernels.h

/// Limits and identity of the device a launch runs on.
struct DeviceView {
  int ordinal = 0;
  std::uint32_t compute_capability = 80; // 80 for 8.0
  std::uint32_t multiprocessors = 16;
  std::uint64_t max_shared_bytes = 0; // per block, opt-in maximum
  AddressSpace* memory = nullptr;
};

struct Launch {
  /// The kernel's module, whose kernels it can launch.
  Kernels* module = nullptr;
  const Kernel* kernel = nullptr;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared_bytes = 0;
  /// Packed parameter buffer of KernelInfo::parameter_bytes.
  const void* parameters = nullptr;
  bool cooperative = false;
  DeviceView device;
  /// Host threads that execute blocks; 1 makes the order of blocks fixed.
  unsigned workers = 1;
  /// Seconds until kLaunchTimeout; 0: never.
  double timeout_seconds = 0;
  /// Where the checks of CUDASIM_CHECK=1 note uninitialised reads and races in
  /// shared memory; null: nothing is checked.
  Findings* findings = nullptr;
  /// Where what is executed is counted (CUDASIM_COUNT), without checks; null:
  /// nowhere.
  InstructionCounts* counts = nullptr;
  /// Where device printf goes (stdout when empty); called with whole messages,
  /// by several workers at once.
  std::function<void(std::string_view)> print;
};

/// How a launch ended.
struct Outcome {
  FaultKind fault = FaultKind::kNone;
  /// Report of several lines in the style of compute-sanitizer: what, kernel,
  /// block, thread, address, nearest allocation, PTX line. Empty when all is
  /// well.
  std::string report;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  /// How often lanes went on without others for which they had waited long
  /// where lanes meet. When they do depends on the engine: native code ends its
  /// turns elsewhere than the interpreter.
  std::uint64_t late_releases = 0;
};

/// Runs a kernel to its end, and then all that it and its children launch, on
/// the calling thread and `workers - 1` more.
/// Never throws for what the kernel does.
/// @throws std::bad_alloc when the host has not the memory that its threads
/// need, and what Launch::print throws; when all workers have stopped.
Outcome run(const Launch& launch);

} // namespace cudasim::engine
