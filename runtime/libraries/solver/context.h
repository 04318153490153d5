// What cuSOLVER's handles stand for. Source: cuSOLVER API, chapter 2.4
// (cuSolverDN: dense LAPACK function reference).
#pragma once

#include <cusolverDn.h>

#include <atomic>
#include <map>
#include <memory>

#include "runtime/libraries/solver/objects.h"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t mode = CUSOLVER_DETERMINISTIC_RESULTS;
};

struct cusolverDnParams {
  std::map<cusolverDnFunction_t, cusolverAlgMode_t> algorithms;
};

namespace accelerator::solver {

template <>
inline constexpr cusolverStatus_t kMissing<cusolverDnContext> =
    CUSOLVER_STATUS_NOT_INITIALIZED;

/// What Jacobi's method is told, and what is asked of it afterwards. The host
/// computes by other methods: tolerance and sweeps are kept and not used, and
/// results are always sorted.
struct JacobiInfo {
  double tolerance = 0;
  int max_sweeps = 100;
  bool is_sorted = true;
  /// Of the last call for one matrix; its work in a stream has it, too. NaN
  /// until there is one.
  std::shared_ptr<std::atomic<double>> residual;
};

} // namespace accelerator::solver

struct syevjInfo : accelerator::solver::JacobiInfo {};

struct gesvdjInfo : accelerator::solver::JacobiInfo {};
