// Making plans, and what they need. The host's transforms need no memory of the
// device, so that every work area is empty.
#include <cufft.h>
#include <cufftXt.h>

#include <array>
#include <new>
#include <vector>

#include "accelerator/runtime/fft/plans.h"
#include "accelerator/runtime/fft/request.h"

namespace accelerator::fft {
namespace {

/// Sizes of 32 bits as those of 64; empty for null.
class Widened {
 public:
  Widened(const int* values, int rank) {
    if (values != nullptr && rank > 0 &&
        rank <= static_cast<int>(all_.size())) {
      std::copy(values, values + rank, all_.begin());
      is_there_ = true;
    }
  }
  const long long* get() const {
    return is_there_ ? all_.data() : nullptr;
  }

 private:
  std::array<long long, 3> all_{};
  bool is_there_ = false;
};

/// A request without layouts.
Request dense(int rank, const long long* n, long long batch) {
  return {rank, n, nullptr, 1, 0, nullptr, 1, 0, batch};
}

/// What the plan would be is valid, and needs nothing.
cufftResult estimate(const Request& request, Types types, size_t* work_size) {
  if (work_size == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  std::shared_ptr<const Transform> transform;
  try {
    if (const cufftResult result = make_transform(request, types, &transform);
        result != CUFFT_SUCCESS) {
      return result;
    }
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  }
  *work_size = 0;
  return CUFFT_SUCCESS;
}

cufftResult estimate(
    const Request& request,
    cufftType type,
    size_t* work_size) {
  Types types{};
  if (const cufftResult result = types_of(type, &types);
      result != CUFFT_SUCCESS) {
    return result;
  }
  return estimate(request, types, work_size);
}

cufftResult size_of_plan(
    cufftHandle handle,
    const Request& request,
    cufftType type,
    size_t* work_size) {
  if (find_plan(handle) == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  return estimate(request, type, work_size);
}

cufftResult make(
    cufftHandle handle,
    const Request& request,
    Types types,
    size_t* work_size) {
  const auto plan = find_plan(handle);
  if (plan == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  if (work_size == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  const std::lock_guard<std::mutex> lock(plan->mutex);
  // A plan is made once.
  if (plan->transform != nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  try {
    if (const cufftResult result =
            make_transform(request, types, &plan->transform);
        result != CUFFT_SUCCESS) {
      return result;
    }
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  }
  *work_size = 0;
  return CUFFT_SUCCESS;
}

cufftResult make(
    cufftHandle handle,
    const Request& request,
    cufftType type,
    size_t* work_size) {
  Types types{};
  if (const cufftResult result = types_of(type, &types);
      result != CUFFT_SUCCESS) {
    return find_plan(handle) == nullptr ? CUFFT_INVALID_PLAN : result;
  }
  return make(handle, request, types, work_size);
}

cufftResult create_and_make(
    cufftHandle* handle,
    const Request& request,
    cufftType type) {
  if (const cufftResult result = create_plan(handle); result != CUFFT_SUCCESS) {
    return result;
  }
  size_t work_size = 0;
  const cufftResult result = make(*handle, request, type, &work_size);
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

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  const long long n[] = {nx};
  return create_and_make(plan, dense(1, n, batch), type);
}

cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  const long long n[] = {nx, ny};
  return create_and_make(plan, dense(2, n, 1), type);
}

cufftResult cufftPlan3d(
    cufftHandle* plan,
    int nx,
    int ny,
    int nz,
    cufftType type) {
  const long long n[] = {nx, ny, nz};
  return create_and_make(plan, dense(3, n, 1), type);
}

cufftResult cufftPlanMany(
    cufftHandle* plan,
    int rank,
    int* n,
    int* inembed,
    int istride,
    int idist,
    int* onembed,
    int ostride,
    int odist,
    cufftType type,
    int batch) {
  const Widened sizes(n, rank), in(inembed, rank), out(onembed, rank);
  return create_and_make(
      plan,
      {rank,
       sizes.get(),
       in.get(),
       istride,
       idist,
       out.get(),
       ostride,
       odist,
       batch},
      type);
}

cufftResult cufftMakePlan1d(
    cufftHandle plan,
    int nx,
    cufftType type,
    int batch,
    size_t* work_size) {
  const long long n[] = {nx};
  return make(plan, dense(1, n, batch), type, work_size);
}

cufftResult cufftMakePlan2d(
    cufftHandle plan,
    int nx,
    int ny,
    cufftType type,
    size_t* work_size) {
  const long long n[] = {nx, ny};
  return make(plan, dense(2, n, 1), type, work_size);
}

cufftResult cufftMakePlan3d(
    cufftHandle plan,
    int nx,
    int ny,
    int nz,
    cufftType type,
    size_t* work_size) {
  const long long n[] = {nx, ny, nz};
  return make(plan, dense(3, n, 1), type, work_size);
}

cufftResult cufftMakePlanMany(
    cufftHandle plan,
    int rank,
    int* n,
    int* inembed,
    int istride,
    int idist,
    int* onembed,
    int ostride,
    int odist,
    cufftType type,
    int batch,
    size_t* work_size) {
  const Widened sizes(n, rank), in(inembed, rank), out(onembed, rank);
  return make(
      plan,
      {rank,
       sizes.get(),
       in.get(),
       istride,
       idist,
       out.get(),
       ostride,
       odist,
       batch},
      type,
      work_size);
}

cufftResult cufftMakePlanMany64(
    cufftHandle plan,
    int rank,
    long long* n,
    long long* inembed,
    long long istride,
    long long idist,
    long long* onembed,
    long long ostride,
    long long odist,
    cufftType type,
    long long batch,
    size_t* work_size) {
  return make(
      plan,
      {rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
      type,
      work_size);
}

cufftResult cufftXtMakePlanMany(
    cufftHandle plan,
    int rank,
    long long* n,
    long long* inembed,
    long long istride,
    long long idist,
    cudaDataType input_type,
    long long* onembed,
    long long ostride,
    long long odist,
    cudaDataType output_type,
    long long batch,
    size_t* work_size,
    cudaDataType execution_type) {
  Types types{};
  if (const cufftResult result =
          types_of(input_type, output_type, execution_type, &types);
      result != CUFFT_SUCCESS) {
    return find_plan(plan) == nullptr ? CUFFT_INVALID_PLAN : result;
  }
  return make(
      plan,
      {rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
      types,
      work_size);
}

cufftResult cufftEstimate1d(
    int nx,
    cufftType type,
    int batch,
    size_t* work_size) {
  const long long n[] = {nx};
  return estimate(dense(1, n, batch), type, work_size);
}

cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* work_size) {
  const long long n[] = {nx, ny};
  return estimate(dense(2, n, 1), type, work_size);
}

cufftResult cufftEstimate3d(
    int nx,
    int ny,
    int nz,
    cufftType type,
    size_t* work_size) {
  const long long n[] = {nx, ny, nz};
  return estimate(dense(3, n, 1), type, work_size);
}

cufftResult cufftEstimateMany(
    int rank,
    int* n,
    int* inembed,
    int istride,
    int idist,
    int* onembed,
    int ostride,
    int odist,
    cufftType type,
    int batch,
    size_t* work_size) {
  const Widened sizes(n, rank), in(inembed, rank), out(onembed, rank);
  return estimate(
      {rank,
       sizes.get(),
       in.get(),
       istride,
       idist,
       out.get(),
       ostride,
       odist,
       batch},
      type,
      work_size);
}

cufftResult cufftGetSize1d(
    cufftHandle plan,
    int nx,
    cufftType type,
    int batch,
    size_t* work_size) {
  const long long n[] = {nx};
  return size_of_plan(plan, dense(1, n, batch), type, work_size);
}

cufftResult cufftGetSize2d(
    cufftHandle plan,
    int nx,
    int ny,
    cufftType type,
    size_t* work_size) {
  const long long n[] = {nx, ny};
  return size_of_plan(plan, dense(2, n, 1), type, work_size);
}

cufftResult cufftGetSize3d(
    cufftHandle plan,
    int nx,
    int ny,
    int nz,
    cufftType type,
    size_t* work_size) {
  const long long n[] = {nx, ny, nz};
  return size_of_plan(plan, dense(3, n, 1), type, work_size);
}

cufftResult cufftGetSizeMany(
    cufftHandle plan,
    int rank,
    int* n,
    int* inembed,
    int istride,
    int idist,
    int* onembed,
    int ostride,
    int odist,
    cufftType type,
    int batch,
    size_t* work_size) {
  const Widened sizes(n, rank), in(inembed, rank), out(onembed, rank);
  return size_of_plan(
      plan,
      {rank,
       sizes.get(),
       in.get(),
       istride,
       idist,
       out.get(),
       ostride,
       odist,
       batch},
      type,
      work_size);
}

cufftResult cufftGetSizeMany64(
    cufftHandle plan,
    int rank,
    long long* n,
    long long* inembed,
    long long istride,
    long long idist,
    long long* onembed,
    long long ostride,
    long long odist,
    cufftType type,
    long long batch,
    size_t* work_size) {
  return size_of_plan(
      plan,
      {rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
      type,
      work_size);
}

cufftResult cufftXtGetSizeMany(
    cufftHandle plan,
    int rank,
    long long* n,
    long long* inembed,
    long long istride,
    long long idist,
    cudaDataType input_type,
    long long* onembed,
    long long ostride,
    long long odist,
    cudaDataType output_type,
    long long batch,
    size_t* work_size,
    cudaDataType execution_type) {
  if (find_plan(plan) == nullptr) {
    return CUFFT_INVALID_PLAN;
  }
  Types types{};
  if (const cufftResult result =
          types_of(input_type, output_type, execution_type, &types);
      result != CUFFT_SUCCESS) {
    return result;
  }
  return estimate(
      {rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
      types,
      work_size);
}

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
