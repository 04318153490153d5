// What a sparse and a dense vector do with each other.
#include <cusparse.h>

#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"
#include "runtime/libraries/sparse/types.h"

namespace accelerator::sparse {
namespace {

/// What scalars of vectors are.
cudaDataType scalar_type(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return CUDA_R_32F;
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return CUDA_C_32F;
    default:
      return type;
  }
}

bool is_floating(cudaDataType type) {
  return type != CUDA_R_8I && type != CUDA_R_32I;
}

/// Where in the dense vector the entries are; nothing when one is outside.
bool read_places(
    const char* function,
    const cusparseSpVecDescr& x,
    std::vector<std::int64_t>* places) {
  for (std::int64_t k = 0; k < x.nnz; ++k) {
    places->push_back(read_index(x.index_type, x.indices, k, x.base));
    if (places->back() < 0 || places->back() >= x.size) {
      return is_outside(function, places->back(), x.size);
    }
  }
  return true;
}

template <typename W, typename Vector>
W element(const Vector& vector, std::int64_t at) {
  W value{};
  load(vector.type, vector.values, at, 1, 1, &value);
  return value;
}

template <typename W, typename Vector>
void set_element(const Vector& vector, std::int64_t at, W value) {
  store(vector.type, vector.values, at, 1, 1, &value);
}

cusparseStatus_t check_vectors(
    const cusparseContext* handle,
    const cusparseSpVecDescr* x,
    const cusparseDnVecDescr* y) {
  if (!are_there(handle, x, y)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return check(
      {valid(x->size == y->size),
       supported(x->index_type != CUSPARSE_INDEX_16U),
       supported(x->type == y->type && x->type != CUDA_R_32I)});
}

/// Calls `each(zero, k, place)` for each entry, in the stream.
template <typename Each>
cusparseStatus_t submit_each(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpVecDescr& x,
    const cusparseDnVecDescr& y,
    const Memory& memory,
    Each each) {
  return submit(function, handle, memory, [function, x, y, each] {
    std::vector<std::int64_t> places;
    if (!read_places(function, x, &places)) {
      return false;
    }
    as_wide(x.type, [&](auto zero) { each(zero, places); });
    return true;
  });
}

cusparseStatus_t check_dot(
    const cusparseContext* handle,
    cusparseOperation_t op,
    const cusparseSpVecDescr* x,
    const cusparseDnVecDescr* y,
    const void* result,
    cudaDataType compute) {
  if (!are_there(handle, x, y, result)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return check(
      {valid(is_operation(op)),
       valid(x->size == y->size),
       supported(x->index_type != CUSPARSE_INDEX_16U),
       supported(x->type == y->type),
       supported(op == kAsIs || (op == kConjugate && is_complex(x->type))),
       // The result has the type of the computation.
       supported(
           are_of_products({x->type, compute, compute}) ||
           are_of_products({x->type, x->type, compute}))});
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(7, cusparseSpVV_bufferSize, CheckedBy<check_dot>::size_work)

extern "C" {

cusparseStatus_t cusparseAxpby(
    cusparseHandle_t handle,
    const void* alpha,
    cusparseConstSpVecDescr_t x,
    const void* beta,
    cusparseDnVecDescr_t y) {
  if (!are_there(alpha, beta)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  cusparseStatus_t status = check_vectors(handle, x, y);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    status = check({supported(is_floating(x->type))});
  }
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const Scalar factor(handle, scalar_type(x->type), alpha);
  const Scalar old(handle, scalar_type(x->type), beta);
  return submit_each(
      __func__,
      handle,
      *x,
      *y,
      Memory(memory_of(*x), memory_of(*y), factor.extent(), old.extent()),
      [x = *x, y = *y, factor, old](
          auto zero, const std::vector<std::int64_t>& places) {
        using W = decltype(zero);
        std::vector<W> sum(y.size);
        if (old.get<W>() != W()) {
          load(y.type, y.values, 0, 1, y.size, sum.data());
        }
        for (W& value : sum) {
          value *= old.get<W>();
        }
        for (std::size_t k = 0; k < places.size(); ++k) {
          sum[places[k]] += factor.get<W>() * element<W>(x, k);
        }
        store(y.type, y.values, 0, 1, y.size, sum.data());
      });
}

cusparseStatus_t cusparseGather(
    cusparseHandle_t handle,
    cusparseConstDnVecDescr_t y,
    cusparseSpVecDescr_t x) {
  const cusparseStatus_t status = check_vectors(handle, x, y);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit_each(
      __func__,
      handle,
      *x,
      *y,
      Memory(memory_of(*x), memory_of(*y)),
      [x = *x, y = *y](auto zero, const std::vector<std::int64_t>& places) {
        for (std::size_t k = 0; k < places.size(); ++k) {
          set_element(x, k, element<decltype(zero)>(y, places[k]));
        }
      });
}

cusparseStatus_t cusparseScatter(
    cusparseHandle_t handle,
    cusparseConstSpVecDescr_t x,
    cusparseDnVecDescr_t y) {
  const cusparseStatus_t status = check_vectors(handle, x, y);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit_each(
      __func__,
      handle,
      *x,
      *y,
      Memory(memory_of(*x), memory_of(*y)),
      [x = *x, y = *y](auto zero, const std::vector<std::int64_t>& places) {
        for (std::size_t k = 0; k < places.size(); ++k) {
          set_element(y, places[k], element<decltype(zero)>(x, k));
        }
      });
}

cusparseStatus_t cusparseRot(
    cusparseHandle_t handle,
    const void* cosine,
    const void* sine,
    cusparseSpVecDescr_t x,
    cusparseDnVecDescr_t y) {
  if (!are_there(cosine, sine)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  cusparseStatus_t status = check_vectors(handle, x, y);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    status = check({supported(is_floating(x->type))});
  }
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const Scalar c(handle, scalar_type(x->type), cosine);
  const Scalar s(handle, scalar_type(x->type), sine);
  return submit_each(
      __func__,
      handle,
      *x,
      *y,
      Memory(memory_of(*x), memory_of(*y), c.extent(), s.extent()),
      [x = *x, y = *y, c, s](
          auto zero, const std::vector<std::int64_t>& places) {
        using W = decltype(zero);
        for (std::size_t k = 0; k < places.size(); ++k) {
          const W first = element<W>(x, k);
          const W second = element<W>(y, places[k]);
          set_element(x, k, c.get<W>() * first + s.get<W>() * second);
          set_element(y, places[k], c.get<W>() * second - s.get<W>() * first);
        }
      });
}

cusparseStatus_t cusparseSpVV(
    cusparseHandle_t handle,
    cusparseOperation_t op,
    cusparseConstSpVecDescr_t x,
    cusparseConstDnVecDescr_t y,
    void* result,
    cudaDataType compute,
    void*) {
  cusparseStatus_t status = check_dot(handle, op, x, y, result, compute);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const bool on_host = handle->pointer_mode == CUSPARSE_POINTER_MODE_HOST;
  status = submit_each(
      __func__,
      handle,
      *x,
      *y,
      Memory(
          memory_of(*x),
          memory_of(*y),
          array(result, size_of(compute), on_host ? 0 : 1)),
      [x = *x, y = *y, op, compute, result](
          auto zero, const std::vector<std::int64_t>& places) {
        using W = decltype(zero);
        W sum{};
        for (std::size_t k = 0; k < places.size(); ++k) {
          const W value = element<W>(x, k);
          sum += (op == kConjugate ? conjugate(value) : value) *
              element<W>(y, places[k]);
        }
        store(compute, result, 0, 1, 1, &sum);
      });
  // A result on the host has to be there when the function returns; that of a
  // captured call is there when its graph has run.
  return status == CUSPARSE_STATUS_SUCCESS && on_host
      ? wait_unless_captured(handle)
      : status;
}

} // extern "C"
