// Attention of the graph API as operations of its own: softmax, masks, and all
// of it. What frontends make of smaller operations needs none of these.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/compute/products.h"
#include "runtime/libraries/dnn/compute/random.h"
#include "runtime/libraries/dnn/compute/softmax.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

constexpr double kLog2E = 1.44269504088896340736;

/// What is told of a softmax besides its values; ids are negative where nobody
/// wants it.
struct SoftmaxTensors {
  std::int64_t stats = -1;
  std::int64_t maximum = -1;
  std::int64_t sum = -1;
  std::int64_t sink = -1;
  bool in_base_two = false;
};

SoftmaxTensors softmax_tensors(Builder& builder, const State& operation) {
  SoftmaxTensors tensors;
  tensors.stats =
      builder.optional(operation, CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC);
  tensors.maximum =
      builder.optional(operation, CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC);
  tensors.sum =
      builder.optional(operation, CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC);
  tensors.sink =
      builder.optional(operation, CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC);
  tensors.in_base_two = operation.flag(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2);
  return tensors;
}

/// Gives out what is wanted of a softmax, and returns its values.
template <typename T>
Array<T> finish(
    Run<T>& run,
    const SoftmaxTensors& tensors,
    Softmax<T> softmax) {
  if (tensors.stats >= 0) {
    const double factor = tensors.in_base_two ? kLog2E : 1;
    run.out(
        tensors.stats,
        combine(
            softmax.sum.dims(),
            softmax.maximum,
            softmax.sum,
            [factor](T most, T sum) {
              return sum == 0 ? -std::numeric_limits<T>::infinity()
                              : static_cast<T>(factor * (most + std::log(sum)));
            }));
  }
  run.out(tensors.maximum, std::move(softmax.maximum));
  run.out(tensors.sum, std::move(softmax.sum));
  return std::move(softmax.values);
}

void add_softmax(Builder& builder, const State& operation) {
  const auto x = builder.tensor(operation, CUDNN_ATTR_OPERATION_SOFTMAX_XDESC);
  const auto y = builder.tensor(operation, CUDNN_ATTR_OPERATION_SOFTMAX_YDESC);
  const SoftmaxTensors tensors = softmax_tensors(builder, operation);
  require_valid(
      !builder.dims(x).empty() && builder.dims(x) == builder.dims(y),
      "a softmax's result is not of its size");
  builder.add(
      {x, tensors.sink},
      {y, tensors.stats, tensors.maximum, tensors.sum},
      [=](auto& run) {
        run.out(
            y,
            finish(
                run, tensors, softmax(run.in(x), run.optional(tensors.sink))));
      });
}

/// A size for each batch, or the same for all.
template <typename T>
std::int64_t size_at(const Array<T>* sizes, std::int64_t batch) {
  return static_cast<std::int64_t>((*sizes)[sizes->size() == 1 ? 0 : batch]);
}

/// Keeps what lies on one side of a diagonal of the last two dimensions.
void add_band_mask(Builder& builder, const State& operation) {
  const auto find = [&](cudnnBackendAttributeName_t name) {
    return builder.optional(operation, name);
  };
  require_supported(
      !operation.has(
          CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_KVDESC) &&
          !operation.has(
              CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC),
      "cumulative lengths are not supported");
  const auto x = find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC);
  const auto y = find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC);
  const auto otherwise = find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC);
  const auto rows = find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC);
  const auto columns =
      find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC);
  const auto left =
      find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC);
  const auto right =
      find(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC);
  const auto mode = operation.get<cudnnPointwiseMode_t>(
      CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE);
  require_supported(
      (mode == CUDNN_POINTWISE_CMP_GE || mode == CUDNN_POINTWISE_CMP_GT) &&
          (left < 0 || right < 0) && otherwise >= 0,
      "this mask of a band is not supported");
  const Dims dims = builder.dims(x);
  require_valid(
      dims.size() == 4 && builder.dims(y) == dims,
      "the scores that are masked have four dimensions");
  const bool equal_counts = mode == CUDNN_POINTWISE_CMP_GE;
  builder.add({x, otherwise, rows, columns, left, right}, {y}, [=](auto& run) {
    const auto& values = run.in(x);
    using T = std::decay_t<decltype(values[0])>;
    const T masked = run.in(otherwise)[0];
    const auto bound = left >= 0 ? static_cast<std::int64_t>(run.number(left))
        : right >= 0             ? static_cast<std::int64_t>(run.number(right))
                                 : 0;
    const Array<T>* row_counts = run.optional(rows);
    const Array<T>* column_counts = run.optional(columns);
    Array<T> result(dims);
    T* to = result.writable();
    std::int64_t at = 0;
    for (std::int64_t batch = 0; batch < dims[0]; ++batch) {
      const std::int64_t shift =
          (column_counts == nullptr ? 0 : size_at(column_counts, batch)) -
          (row_counts == nullptr ? 0 : size_at(row_counts, batch));
      for (std::int64_t head = 0; head < dims[1]; ++head) {
        for (std::int64_t i = 0; i < dims[2]; ++i) {
          for (std::int64_t j = 0; j < dims[3]; ++j, ++at) {
            const std::int64_t room =
                left >= 0 ? j + bound - shift - i : i + shift + bound - j;
            to[at] =
                room > 0 || (equal_counts && room == 0) ? values[at] : masked;
          }
        }
      }
    }
    run.out(y, std::move(result));
  });
}

/// The last two dimensions turned.
template <typename T>
Array<T> turned(const Array<T>& x) {
  Dims dims = x.dims();
  const std::size_t rank = dims.size();
  const std::int64_t rows = dims[rank - 2];
  const std::int64_t columns = dims[rank - 1];
  std::swap(dims[rank - 2], dims[rank - 1]);
  Array<T> result(dims);
  T* to = result.writable();
  const std::int64_t size = rows * columns;
  for (std::int64_t at = 0; at < x.size(); at += size) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        to[at + j * rows + i] = x[at + i * columns + j];
      }
    }
  }
  return result;
}

void add_attention(Builder& builder, const State& operation) {
  for (const auto name :
       {CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_KDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_VDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_SDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_SDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_ODESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_SDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC}) {
    require_supported(
        !operation.has(name),
        "attention with block masks, pages, cumulative lengths or 8-bit "
        "numbers is not supported");
  }
  const auto find = [&](cudnnBackendAttributeName_t name) {
    return builder.optional(operation, name);
  };
  const auto q = find(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC);
  const auto k = find(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC);
  const auto v = find(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC);
  const auto o = find(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC);
  const auto scale = find(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC);
  const auto rows = find(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC);
  const auto columns = find(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC);
  const auto seed = find(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC);
  const auto offset = find(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_OFFSET_DESC);
  const auto dump = find(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_RNG_DUMP_DESC);
  const double dropped =
      operation.number(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY, 0);
  require_valid(
      dropped >= 0 && dropped < 1 && (dropped == 0 || seed >= 0),
      "a dropout has a probability below 1, and a seed");
  const Dims q_dims = builder.dims(q);
  const Dims k_dims = builder.dims(k);
  const Dims v_dims = builder.dims(v);
  const Dims o_dims = builder.dims(o);
  require_valid(
      q_dims.size() == 4 && k_dims.size() == 4 && v_dims.size() == 4 &&
          o_dims.size() == 4 && q_dims[0] == k_dims[0] &&
          q_dims[0] == v_dims[0] && k_dims[1] > 0 && v_dims[1] > 0 &&
          q_dims[1] % k_dims[1] == 0 && q_dims[1] % v_dims[1] == 0 &&
          q_dims[3] == k_dims[3] && k_dims[2] == v_dims[2] &&
          o_dims == Dims({q_dims[0], q_dims[1], q_dims[2], v_dims[3]}),
      "the tensors of an attention do not fit each other");
  const Dims dims{q_dims[0], q_dims[1], q_dims[2], k_dims[2]};
  SoftmaxTensors tensors;
  if (operation.has(CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC)) {
    tensors = softmax_tensors(
        builder,
        operation.child(
            CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC,
            CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR));
  } else {
    tensors.stats = find(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC);
  }
  // Between the product and the softmax the operations of a graph may be.
  std::int64_t raw = builder.temporary(dims);
  std::int64_t scores = raw;
  if (operation.has(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH)) {
    const State& graph = operation.child(
        CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH,
        CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    for (const auto& inner :
         graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS)->children) {
      add_operation(builder, *inner);
    }
    raw = operation.get<std::int64_t>(
        CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID, -1);
    scores = operation.get<std::int64_t>(
        CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID, -1);
    require_valid(
        builder.knows(raw) && builder.knows(scores) &&
            builder.dims(raw) == dims && builder.dims(scores) == dims,
        "the scores are not in the attention's graph");
  }
  builder.add({q, k, scale}, {raw}, [=](auto& run) {
    auto result = matmul(run.in(q), turned(run.in(k)), dims);
    const double factor = scale < 0 ? 1 : run.number(scale);
    auto* values = result.writable();
    using T = std::decay_t<decltype(*values)>;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      values[i] *= static_cast<T>(factor);
    }
    run.out(raw, std::move(result));
  });
  builder.add(
      {scores, v, rows, columns, seed, offset, tensors.sink},
      {o, tensors.stats, tensors.maximum, tensors.sum, dump},
      [=](auto& run) {
        const auto& given = run.in(scores);
        using T = std::decay_t<decltype(given[0])>;
        Array<T> masked(dims, given.data());
        const Array<T>* row_counts = run.optional(rows);
        const Array<T>* column_counts = run.optional(columns);
        if (column_counts != nullptr) {
          T* to = masked.writable();
          const std::int64_t size = dims[1] * dims[2] * dims[3];
          for (std::int64_t i = 0; i < masked.size(); ++i) {
            if (i % dims[3] >= size_at(column_counts, i / size)) {
              to[i] = -std::numeric_limits<T>::infinity();
            }
          }
        }
        Array<T> weights =
            finish(run, tensors, softmax(masked, run.optional(tensors.sink)));
        if (dropped > 0) {
          T* to = weights.writable();
          Array<T> kept(dims);
          T* keeps = kept.writable();
          const auto key = static_cast<std::uint64_t>(run.integer(seed));
          const auto begin =
              static_cast<std::uint64_t>(offset < 0 ? 0 : run.integer(offset));
          for (std::int64_t i = 0; i < weights.size(); ++i) {
            keeps[i] = static_cast<T>(
                random_uniform(key, begin, static_cast<std::uint64_t>(i)) <=
                1 - dropped);
            to[i] *= keeps[i] / static_cast<T>(1 - dropped);
          }
          if (dump >= 0) {
            run.out(dump, std::move(kept));
          }
        }
        ProductSizes sizes;
        if (row_counts != nullptr) {
          sizes.m = [row_counts](std::int64_t batch) {
            return size_at(row_counts, batch);
          };
        }
        run.out(o, matmul(weights, run.in(v), o_dims, sizes));
      });
}

} // namespace

bool add_attention_part(Builder& builder, const State& operation) {
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR:
      add_softmax(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:
      add_band_mask(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
      add_attention(builder, operation);
      return true;
    default:
      return false;
  }
}

} // namespace accelerator::dnn
