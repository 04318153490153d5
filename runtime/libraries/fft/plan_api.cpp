// Making plans, and what they need. The host's transforms need no memory of the
// device, so that every work area is empty.
#include <cufft.h>
#include <cufftXt.h>

#include <new>

#include "runtime/libraries/fft/plans.h"
#include "runtime/libraries/fft/request.h"

namespace accelerator::fft {
namespace {

/// A request without layouts.
Request dense(std::initializer_list<long long> n, long long batch) {
  const int rank = static_cast<int>(n.size());
  return {rank, {n.begin(), rank}, {}, 1, 0, {}, 1, 0, batch};
}

/// A request with layouts, in sizes of 32 or of 64 bits.
template <typename Int>
Request many(
    int rank,
    const Int* n,
    const Int* inembed,
    Int istride,
    Int idist,
    const Int* onembed,
    Int ostride,
    Int odist,
    Int batch) {
  return {
      rank,
      {n, rank},
      {inembed, rank},
      istride,
      idist,
      {onembed, rank},
      ostride,
      odist,
      batch};
}

/// The types that a call names, or why it names none.
struct Named {
  Named(cufftType type) : result(types_of(type, &types)) {}
  Named(cudaDataType input, cudaDataType output, cudaDataType execution)
      : result(types_of(input, output, execution, &types)) {}

  Types types{};
  cufftResult result;
};

/// Makes what a plan is to compute, if that is not there: plans are made once.
cufftResult fill(
    const Request& request,
    const Named& named,
    size_t* work_size,
    std::shared_ptr<const Transform>* transform) {
  if (named.result != CUFFT_SUCCESS) {
    return named.result;
  }
  if (work_size == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  if (*transform != nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  try {
    if (const cufftResult result =
            make_transform(request, named.types, transform);
        result != CUFFT_SUCCESS) {
      return result;
    }
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  }
  *work_size = 0;
  return CUFFT_SUCCESS;
}

/// What the plan would be is valid, and needs nothing.
cufftResult estimate(
    const Request& request,
    const Named& named,
    size_t* work_size) {
  std::shared_ptr<const Transform> transform;
  return fill(request, named, work_size, &transform);
}

cufftResult size_of_plan(
    cufftHandle handle,
    const Request& request,
    const Named& named,
    size_t* work_size) {
  return find_plan(handle) == nullptr ? CUFFT_INVALID_PLAN
                                      : estimate(request, named, work_size);
}

cufftResult make(
    cufftHandle handle,
    const Request& request,
    const Named& named,
    size_t* work_size) {
  const auto plan = find_plan(handle);
  if (plan == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  const std::lock_guard<std::mutex> lock(plan->mutex);
  return fill(request, named, work_size, &plan->transform);
}

cufftResult create_and_make(
    cufftHandle* handle,
    const Request& request,
    const Named& named) {
  if (const cufftResult result = create_plan(handle); result != CUFFT_SUCCESS) {
    return result;
  }
  size_t work_size = 0;
  const cufftResult result = make(*handle, request, named, &work_size);
  if (result != CUFFT_SUCCESS) {
    destroy_plan(*handle);
  }
  return result;
}

} // namespace
} // namespace accelerator::fft

using namespace accelerator::fft;

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  return create_plan(handle);
}

cufftResult cufftDestroy(cufftHandle plan) {
  return destroy_plan(plan);
}

// A way to describe transforms has up to four functions, which differ in what
// they do with the description.
//   Way: how the functions' names end.
//   request: what the description asks for.
//   ...: its parameters, a `type` among them.
#define ACCEL_PLANS(Way, request, ...)                    \
  cufftResult cufftMakePlan##Way(                         \
      cufftHandle plan, __VA_ARGS__, size_t* work_size) { \
    return make(plan, request, type, work_size);          \
  }                                                       \
  cufftResult cufftGetSize##Way(                          \
      cufftHandle plan, __VA_ARGS__, size_t* work_size) { \
    return size_of_plan(plan, request, type, work_size);  \
  }
#define ACCEL_ALL(Way, request, ...)                               \
  ACCEL_PLANS(Way, request, __VA_ARGS__)                           \
  cufftResult cufftPlan##Way(cufftHandle* plan, __VA_ARGS__) {     \
    return create_and_make(plan, request, type);                   \
  }                                                                \
  cufftResult cufftEstimate##Way(__VA_ARGS__, size_t* work_size) { \
    return estimate(request, type, work_size);                     \
  }
#define ACCEL_MANY \
  many(rank, n, inembed, istride, idist, onembed, ostride, odist, batch)

ACCEL_ALL(1d, dense({nx}, batch), int nx, cufftType type, int batch)
ACCEL_ALL(2d, dense({nx, ny}, 1), int nx, int ny, cufftType type)
ACCEL_ALL(3d, dense({nx, ny, nz}, 1), int nx, int ny, int nz, cufftType type)
ACCEL_ALL(
    Many,
    ACCEL_MANY,
    int rank,
    int* n,
    int* inembed,
    int istride,
    int idist,
    int* onembed,
    int ostride,
    int odist,
    cufftType type,
    int batch)
ACCEL_PLANS(
    Many64,
    ACCEL_MANY,
    int rank,
    long long* n,
    long long* inembed,
    long long istride,
    long long idist,
    long long* onembed,
    long long ostride,
    long long odist,
    cufftType type,
    long long batch)

// The same, with a type for each side and one to compute with.
#define ACCEL_TYPED(name, function)                                           \
  cufftResult name(                                                           \
      cufftHandle plan,                                                       \
      int rank,                                                               \
      long long* n,                                                           \
      long long* inembed,                                                     \
      long long istride,                                                      \
      long long idist,                                                        \
      cudaDataType input,                                                     \
      long long* onembed,                                                     \
      long long ostride,                                                      \
      long long odist,                                                        \
      cudaDataType output,                                                    \
      long long batch,                                                        \
      size_t* work_size,                                                      \
      cudaDataType execution) {                                               \
    return function(plan, ACCEL_MANY, {input, output, execution}, work_size); \
  }
ACCEL_TYPED(cufftXtMakePlanMany, make)
ACCEL_TYPED(cufftXtGetSizeMany, size_of_plan)

#undef ACCEL_TYPED
#undef ACCEL_MANY
#undef ACCEL_ALL
#undef ACCEL_PLANS

cufftResult cufftGetSize(cufftHandle plan, size_t* work_size) {
  const auto found = find_plan(plan);
  if (found == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  if (work_size == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  *work_size = 0;
  return CUFFT_SUCCESS;
}

} // extern "C"
