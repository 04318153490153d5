// The iterative refinement solver with settings of its own (IRSXgesv). As gesv
// of two precisions it factors in the precision of the solution, so that there
// is nothing to refine: it takes no iteration, and settings of refinement are
// checked and kept. Source: cuSOLVER API, "cuSolverDN Helper Function
// Reference", and cusolverDnIRSXgesv().
#include <cusolverDn.h>

#include <algorithm>
#include <initializer_list>

#include "runtime/libraries/solver/objects.h"
#include "runtime/libraries/solver/submit.h"

struct cusolverDnIRSParams {
  // Neither of the precisions has a default, nor has the refinement.
  cusolverPrecType_t main = static_cast<cusolverPrecType_t>(0);
  cusolverPrecType_t lowest = static_cast<cusolverPrecType_t>(0);
  cusolverIRSRefinement_t refinement = CUSOLVER_IRS_REFINE_NOT_SET;
  double tolerance = 0; // 0: as LAPACK's
  double inner_tolerance = 1e-4;
  cusolver_int_t most_iterations = 50;
  cusolver_int_t most_inner_iterations = 50;
  bool falls_back = true;
};

struct cusolverDnIRSInfos {
  cusolver_int_t iterations = 0;
  /// That the call was allowed.
  cusolver_int_t most_iterations = 0;
};

namespace accelerator::solver {

template <>
inline constexpr cusolverStatus_t kMissing<cusolverDnIRSParams> =
    CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
template <>
inline constexpr cusolverStatus_t kMissing<cusolverDnIRSInfos> =
    CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;

namespace {

/// Whether a system of a precision can be factored in another.
bool go_together(cusolverPrecType_t main, cusolverPrecType_t lowest) {
  const auto is_one_of = [lowest](std::initializer_list<int> all) {
    return std::find(all.begin(), all.end(), lowest) != all.end();
  };
  switch (main) {
    case CUSOLVER_R_64F:
      return is_one_of(
          {CUSOLVER_R_64F,
           CUSOLVER_R_32F,
           CUSOLVER_R_16F,
           CUSOLVER_R_16BF,
           CUSOLVER_R_TF32});
    case CUSOLVER_R_32F:
      return is_one_of(
          {CUSOLVER_R_32F, CUSOLVER_R_16F, CUSOLVER_R_16BF, CUSOLVER_R_TF32});
    case CUSOLVER_C_64F:
      return is_one_of(
          {CUSOLVER_C_64F,
           CUSOLVER_C_32F,
           CUSOLVER_C_16F,
           CUSOLVER_C_16BF,
           CUSOLVER_C_TF32});
    case CUSOLVER_C_32F:
      return is_one_of(
          {CUSOLVER_C_32F, CUSOLVER_C_16F, CUSOLVER_C_16BF, CUSOLVER_C_TF32});
    default:
      return false;
  }
}

cusolverStatus_t check_params(
    cusolverDnHandle_t handle,
    const cusolverDnIRSParams* params) {
  if (handle == nullptr) {
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  }
  if (params == nullptr) {
    return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  }
  if (!go_together(params->main, params->lowest)) {
    return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  }
  if (params->refinement < CUSOLVER_IRS_REFINE_NONE ||
      params->refinement > CUSOLVER_IRS_REFINE_GMRES_GMRES) {
    return CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE;
  }
  return params->most_iterations < 0
      ? CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER
      : CUSOLVER_STATUS_SUCCESS;
}

/// Calls with the functions of a precision and one of its numbers.
template <typename Call>
cusolverStatus_t with_gesv(cusolverPrecType_t main, Call call) {
  switch (main) {
    case CUSOLVER_R_64F:
      return call(cusolverDnDDgesv, cusolverDnDDgesv_bufferSize, double());
    case CUSOLVER_R_32F:
      return call(cusolverDnSSgesv, cusolverDnSSgesv_bufferSize, float());
    case CUSOLVER_C_64F:
      return call(
          cusolverDnZZgesv, cusolverDnZZgesv_bufferSize, cuDoubleComplex());
    default:
      return call(cusolverDnCCgesv, cusolverDnCCgesv_bufferSize, cuComplex());
  }
}

cusolverStatus_t set_precisions(
    const char*,
    cusolverDnIRSParams* params,
    cusolverPrecType_t main,
    cusolverPrecType_t lowest) {
  return change(params, [&](auto& its) {
    its.main = main;
    its.lowest = lowest;
  });
}

cusolverStatus_t set_most_iterations(
    const char*,
    cusolverDnIRSParams* params,
    cusolver_int_t most) {
  return change(params, [&](auto& its) {
    its.most_iterations = most;
    its.most_inner_iterations = std::min(its.most_inner_iterations, most);
  });
}

cusolverStatus_t set_most_inner_iterations(
    const char* function,
    cusolverDnIRSParams* params,
    cusolver_int_t most) {
  return params != nullptr && most > params->most_iterations
      ? CUSOLVER_STATUS_IRS_PARAMS_INVALID
      : set<&cusolverDnIRSParams::most_inner_iterations>(
            function, params, most);
}

template <bool kIsEnabled>
cusolverStatus_t set_fallback(
    const char* function,
    cusolverDnIRSParams* params) {
  return set<&cusolverDnIRSParams::falls_back>(function, params, kIsEnabled);
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

ENTRY_POINT(1, cusolverDnIRSParamsCreate, create)
ENTRY_POINT(1, cusolverDnIRSParamsDestroy, destroy)
ENTRY_POINT(
    2,
    cusolverDnIRSParamsSetRefinementSolver,
    set<&cusolverDnIRSParams::refinement>)
ENTRY_POINT(
    2,
    cusolverDnIRSParamsSetSolverMainPrecision,
    set<&cusolverDnIRSParams::main>)
ENTRY_POINT(
    2,
    cusolverDnIRSParamsSetSolverLowestPrecision,
    set<&cusolverDnIRSParams::lowest>)
ENTRY_POINT(3, cusolverDnIRSParamsSetSolverPrecisions, set_precisions)
ENTRY_POINT(2, cusolverDnIRSParamsSetTol, set<&cusolverDnIRSParams::tolerance>)
ENTRY_POINT(
    2,
    cusolverDnIRSParamsSetTolInner,
    set<&cusolverDnIRSParams::inner_tolerance>)
ENTRY_POINT(2, cusolverDnIRSParamsSetMaxIters, set_most_iterations)
ENTRY_POINT(2, cusolverDnIRSParamsSetMaxItersInner, set_most_inner_iterations)
ENTRY_POINT(
    2,
    cusolverDnIRSParamsGetMaxIters,
    get<&cusolverDnIRSParams::most_iterations>)
ENTRY_POINT(1, cusolverDnIRSParamsEnableFallback, set_fallback<true>)
ENTRY_POINT(1, cusolverDnIRSParamsDisableFallback, set_fallback<false>)

ENTRY_POINT(1, cusolverDnIRSInfosCreate, create)
ENTRY_POINT(1, cusolverDnIRSInfosDestroy, destroy)
ENTRY_POINT(
    2,
    cusolverDnIRSInfosGetNiters,
    get<&cusolverDnIRSInfos::iterations>)
ENTRY_POINT(
    2,
    cusolverDnIRSInfosGetOuterNiters,
    get<&cusolverDnIRSInfos::iterations>)
ENTRY_POINT(
    2,
    cusolverDnIRSInfosGetMaxIters,
    get<&cusolverDnIRSInfos::most_iterations>)

extern "C" {

cusolverStatus_t cusolverDnIRSXgesv_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnIRSParams_t params,
    cusolver_int_t n,
    cusolver_int_t columns,
    size_t* bytes) {
  if (const auto status = check_params(handle, params);
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const cusolver_int_t leading = std::max(1, n);
  return with_gesv(params->main, [&](auto, auto size_of, auto) {
    return size_of(
        handle,
        n,
        columns,
        nullptr,
        leading,
        nullptr,
        nullptr,
        leading,
        nullptr,
        leading,
        nullptr,
        bytes);
  });
}

cusolverStatus_t cusolverDnIRSXgesv(
    cusolverDnHandle_t handle,
    cusolverDnIRSParams_t params,
    cusolverDnIRSInfos_t infos,
    cusolver_int_t n,
    cusolver_int_t columns,
    void* a,
    cusolver_int_t lda,
    void* b,
    cusolver_int_t ldb,
    void* x,
    cusolver_int_t ldx,
    void* work,
    size_t bytes,
    cusolver_int_t* iterations,
    cusolver_int_t* info) {
  if (const auto status = check_params(handle, params);
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  if (infos == nullptr) {
    return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  }
  const auto status = with_gesv(params->main, [&](auto solve, auto, auto zero) {
    using Api = decltype(zero);
    return solve(
        handle,
        n,
        columns,
        static_cast<Api*>(a),
        lda,
        nullptr,
        static_cast<Api*>(b),
        ldb,
        static_cast<Api*>(x),
        ldx,
        work,
        bytes,
        iterations,
        info);
  });
  if (status == CUSOLVER_STATUS_SUCCESS) {
    infos->iterations = *iterations;
    infos->most_iterations = params->most_iterations;
  }
  return status;
}

} // extern "C"
