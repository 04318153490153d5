// Matrix products and attention of the graph API.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {
namespace {

class GraphAttention : public HandleTest {};

Descriptor product(
    const Descriptor& a,
    const Descriptor& b,
    const Descriptor& c,
    const std::vector<std::pair<cudnnBackendAttributeName_t, Descriptor>>&
        sizes = {}) {
  Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.choice(
         CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .done();
  Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.child(CUDNN_ATTR_OPERATION_MATMUL_DESC, {how})
      .child(CUDNN_ATTR_OPERATION_MATMUL_ADESC, {a})
      .child(CUDNN_ATTR_OPERATION_MATMUL_BDESC, {b})
      .child(CUDNN_ATTR_OPERATION_MATMUL_CDESC, {c});
  for (const auto& [name, size] : sizes) {
    operation.child(name, {size});
  }
  return operation.done();
}

// Four heads share two matrices B, which is stored turned; of the second batch
// two rows and three terms count.
TEST_F(GraphAttention, ProductsRepeatBatchesAndHaveSizes) {
  constexpr std::int64_t kHeads = 4, kM = 3, kN = 5, kK = 4;
  const auto a = random_floats(2 * kHeads * kM * kK, 1);
  const auto b = random_floats(2 * 2 * kK * kN, 2);
  const Array<float> da(a), db(b);
  const Array<float> dc(std::vector<float>(2 * kHeads * kM * kN, 9));
  const Array<std::int32_t> rows(std::vector<std::int32_t>{3, 2});
  const Array<std::int32_t> terms(std::vector<std::int32_t>{4, 3});
  const auto sizes = [](std::int64_t uid) {
    return tensor(uid, {2, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_INT32);
  };
  run({product(
          tensor(1, {2, kHeads, kM, kK}),
          tensor(2, {2, 2, kK, kN}, {2 * kK * kN, kK * kN, 1, kK}),
          tensor(3, {2, kHeads, kM, kN}),
          {{CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, sizes(4)},
           {CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, sizes(5)}})},
      {{1, da.get()},
       {2, db.get()},
       {3, dc.get()},
       {4, rows.get()},
       {5, terms.get()}});
  std::vector<double> wanted;
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < kM; ++i) {
        for (std::int64_t j = 0; j < kN; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < (n == 0 ? 4 : 3); ++k) {
            sum +=
                static_cast<double>(a[((n * kHeads + h) * kM + i) * kK + k]) *
                b[((n * 2 + h / 2) * kN + j) * kK + k];
          }
          wanted.push_back(i < (n == 0 ? 3 : 2) ? sum : 0);
        }
      }
    }
  }
  expect_near(dc.values(), wanted, 1e-5);
}

/// Attention by its definition. `length` is how many keys the batch has.
std::vector<double> attend(
    const std::vector<float>& q,
    const std::vector<float>& k,
    const std::vector<float>& v,
    const Dims& dims, // batches, heads, rows, columns, depth, width
    const std::vector<std::int64_t>& lengths,
    bool is_causal,
    double scale,
    std::vector<double>* stats) {
  std::vector<double> result;
  const auto [b, h, m, n, d, w] =
      std::tie(dims[0], dims[1], dims[2], dims[3], dims[4], dims[5]);
  for (std::int64_t head = 0; head < b * h; ++head) {
    for (std::int64_t i = 0; i < m; ++i) {
      std::vector<double> weights(n);
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        double score = 0;
        for (std::int64_t l = 0; l < d; ++l) {
          score += static_cast<double>(q[(head * m + i) * d + l]) *
              k[(head * n + j) * d + l];
        }
        const bool counts = j < lengths[head / h] && (!is_causal || j <= i);
        weights[j] = counts ? std::exp(scale * score) : 0;
        sum += weights[j];
      }
      stats->push_back(std::log(sum));
      for (std::int64_t l = 0; l < w; ++l) {
        double value = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          value += weights[j] / sum * v[(head * n + j) * w + l];
        }
        result.push_back(value);
      }
    }
  }
  return result;
}

// All of it as one operation, with lengths of the keys, a mask in a graph of
// its own, and what a gradient needs of the softmax.
TEST_F(GraphAttention, IsOneOperation) {
  const Dims dims{2, 3, 4, 6, 5, 7};
  const auto q = random_floats(2 * 3 * 4 * 5, 1);
  const auto k = random_floats(2 * 3 * 6 * 5, 2);
  const auto v = random_floats(2 * 3 * 6 * 7, 3);
  const Array<float> dq(q), dk(k), dv(v);
  const Array<float> out(std::vector<float>(2 * 3 * 4 * 7, 9));
  const Array<float> stats(std::vector<float>(2 * 3 * 4, 9));
  const Array<std::int32_t> rows(std::vector<std::int32_t>{4, 4});
  const Array<std::int32_t> columns(std::vector<std::int32_t>{6, 3});
  const Dims scores{2, 3, 4, 6};
  const auto host = [](std::int64_t uid) {
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid})
        .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, {1, 1, 1, 1})
        .integers(CUDNN_ATTR_TENSOR_STRIDES, {1, 1, 1, 1})
        .integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4})
        .flag(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
    return made.done();
  };
  const auto lengths = [](std::int64_t uid) {
    return tensor(uid, {2, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_INT32);
  };
  Descriptor mask(CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR);
  mask.child(
          CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC,
          {tensor(10, scores, true)})
      .child(
          CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC,
          {tensor(11, scores, true)})
      .child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, {host(12)})
      .choice(
          CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE,
          CUDNN_TYPE_POINTWISE_MODE,
          CUDNN_POINTWISE_CMP_GE)
      .done();
  Descriptor inner(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  inner.child(CUDNN_ATTR_OPERATIONGRAPH_OPS, {mask}).done();
  float scale = 0.5;
  float lowest = -1e9F;
  for (const bool is_causal : {false, true}) {
    Descriptor operation(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    operation
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, {tensor(1, {2, 3, 4, 5})})
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, {tensor(2, {2, 3, 6, 5})})
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, {tensor(3, {2, 3, 6, 7})})
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, {tensor(4, {2, 3, 4, 7})})
        .child(
            CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, {tensor(5, {2, 3, 4, 1})})
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, {host(6)})
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, {lengths(7)})
        .child(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, {lengths(8)});
    Bindings bindings{
        {1, dq.get()},
        {2, dk.get()},
        {3, dv.get()},
        {4, out.get()},
        {5, stats.get()},
        {6, &scale},
        {7, rows.get()},
        {8, columns.get()}};
    if (is_causal) {
      operation.child(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH, {inner})
          .integers(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID, {10})
          .integers(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID, {11});
      bindings.push_back({12, &lowest});
    }
    run({operation.done()}, bindings);
    std::vector<double> wanted_stats;
    const std::vector<double> wanted =
        attend(q, k, v, dims, {6, 3}, is_causal, scale, &wanted_stats);
    expect_near(out.values(), wanted, 1e-5);
    expect_near(stats.values(), wanted_stats, 1e-5);
  }
}

// Batches of different lengths one behind the other.
TEST_F(GraphAttention, ReadsAndWritesRaggedTensors) {
  const Array<float> x(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const Array<float> y(std::vector<float>(8, 9));
  const Array<std::int32_t> starts(std::vector<std::int32_t>{0, 2, 6});
  const auto ragged = [](std::int64_t uid) {
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid})
        .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, {2, 1, 3, 2})
        .integers(CUDNN_ATTR_TENSOR_STRIDES, {6, 2, 2, 1})
        .integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4})
        .child(
            CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC,
            {tensor(9, {3, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_INT32)});
    return made.done();
  };
  run({pointwise(
          CUDNN_POINTWISE_NEG,
          {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, ragged(1)},
           {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, ragged(2)}})},
      {{1, x.get()}, {2, y.get()}, {9, starts.get()}});
  EXPECT_EQ(y.values(), (std::vector<float>{-1, -2, -3, -4, -5, -6, 9, 9}));
}

} // namespace
} // namespace accelerator::dnn::testing
