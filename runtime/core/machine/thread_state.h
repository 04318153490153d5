// What CUDA keeps for each host thread.
#pragma once

#include <driver_types.h>
#include <vector_types.h>

#include <memory>
#include <vector>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {

struct OwnContext; // contexts.h
class Stream;

/// The arguments of <<<…>>> between the push and the pop.
struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

struct ThreadState {
  ~ThreadState();

  int device = 0;
  /// Whether a context is current: after cudaSetDevice or cuCtxSetCurrent, or
  /// the first use of the device.
  bool bound = false;
  /// The current context, when cuCtxCreate has made it; null: the primary one
  /// of the device.
  OwnContext* context = nullptr;
  /// What cudaGetLastError answers.
  Status last_error = cudaSuccess;
  std::vector<LaunchConfiguration> configurations;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  /// Stream 0 means the per-thread stream while this is above 0.
  int per_thread_default = 0;
  /// Per-thread default streams by device; null until used.
  std::vector<std::shared_ptr<Stream>> streams;
  /// Contexts beneath the current one (cuCtxPushCurrent).
  struct Beneath {
    int device = -1; // -1: none
    OwnContext* context = nullptr; // as above
  };
  std::vector<Beneath> context_stack;
};

ThreadState& thread_state();

/// Makes stream 0 the per-thread default stream for a while: the functions
/// whose names end in _ptsz and _ptds.
class PerThreadDefault {
 public:
  PerThreadDefault() {
    ++thread_state().per_thread_default;
  }
  ~PerThreadDefault() {
    --thread_state().per_thread_default;
  }
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;
};

} // namespace accelerator::runtime
