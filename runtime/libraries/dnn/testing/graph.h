// Operation graphs for tests: descriptors in a line each.
#pragma once

#include <cudnn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::dnn::testing {

using blas::testing::Array;
using Dims = std::vector<std::int64_t>;

/// A backend descriptor.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t kind) {
    cudnnBackendDescriptor_t made = nullptr;
    EXPECT_EQ(cudnnBackendCreateDescriptor(kind, &made), CUDNN_STATUS_SUCCESS);
    handle_.reset(made, cudnnBackendDestroyDescriptor);
  }
  cudnnBackendDescriptor_t get() const {
    return handle_.get();
  }

  template <typename T>
  Descriptor& set(
      cudnnBackendAttributeName_t name,
      cudnnBackendAttributeType_t type,
      const std::vector<T>& values) {
    EXPECT_EQ(
        cudnnBackendSetAttribute(
            get(),
            name,
            type,
            static_cast<std::int64_t>(values.size()),
            values.data()),
        CUDNN_STATUS_SUCCESS)
        << "attribute " << name << ": " << said();
    return *this;
  }
  Descriptor& integers(cudnnBackendAttributeName_t name, const Dims& values) {
    return set(name, CUDNN_TYPE_INT64, values);
  }
  Descriptor& number(cudnnBackendAttributeName_t name, double value) {
    return set(name, CUDNN_TYPE_DOUBLE, std::vector<double>{value});
  }
  Descriptor& flag(cudnnBackendAttributeName_t name) {
    return set(name, CUDNN_TYPE_BOOLEAN, std::vector<char>{1});
  }
  Descriptor& choice(
      cudnnBackendAttributeName_t name,
      cudnnBackendAttributeType_t type,
      int value) {
    return set(name, type, std::vector<int>{value});
  }
  Descriptor& child(
      cudnnBackendAttributeName_t name,
      const std::vector<Descriptor>& children) {
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor& one : children) {
      handles.push_back(one.get());
    }
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles);
  }
  /// Finalizes it, which has to succeed.
  Descriptor done() {
    EXPECT_EQ(cudnnBackendFinalize(get()), CUDNN_STATUS_SUCCESS) << said();
    return *this;
  }

  template <typename T>
  std::vector<T> answer(
      cudnnBackendAttributeName_t name,
      cudnnBackendAttributeType_t type) const {
    std::int64_t count = -1;
    EXPECT_EQ(
        cudnnBackendGetAttribute(get(), name, type, 0, &count, nullptr),
        CUDNN_STATUS_SUCCESS);
    std::vector<T> values(static_cast<std::size_t>(count));
    EXPECT_EQ(
        cudnnBackendGetAttribute(
            get(), name, type, count, &count, values.data()),
        CUDNN_STATUS_SUCCESS);
    return values;
  }

  static std::string said() {
    std::vector<char> text(500);
    cudnnGetLastErrorString(text.data(), text.size());
    return text.data();
  }

 private:
  std::shared_ptr<void> handle_;
};

inline Dims packed(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * dims[i];
  }
  return strides;
}

/// Channels innermost.
inline Dims channels_last(const Dims& dims) {
  Dims strides(dims.size());
  strides[1] = 1;
  std::int64_t stride = dims[1];
  for (std::size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  return strides;
}

inline Descriptor tensor(
    std::int64_t uid,
    const Dims& dims,
    const Dims& strides,
    cudnnDataType_t type = CUDNN_DATA_FLOAT,
    bool is_virtual = false) {
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid})
      .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .integers(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {8})
      .choice(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  if (is_virtual) {
    made.flag(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  }
  return made.done();
}

inline Descriptor tensor(
    std::int64_t uid,
    const Dims& dims,
    bool is_virtual = false) {
  return tensor(uid, dims, packed(dims), CUDNN_DATA_FLOAT, is_virtual);
}

inline Descriptor pointwise(
    cudnnPointwiseMode_t mode,
    const std::vector<std::pair<cudnnBackendAttributeName_t, Descriptor>>&
        tensors,
    const std::vector<std::pair<cudnnBackendAttributeName_t, double>>&
        settings = {}) {
  Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.choice(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .choice(
          CUDNN_ATTR_POINTWISE_MATH_PREC,
          CUDNN_TYPE_DATA_TYPE,
          CUDNN_DATA_FLOAT);
  for (const auto& [name, value] : settings) {
    how.number(name, value);
  }
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {how.done()});
  for (const auto& [name, tensor] : tensors) {
    operation.child(name, {tensor});
  }
  return operation.done();
}

/// The one plan that heuristics find for a graph.
inline Descriptor plan_of(const std::vector<Descriptor>& operations) {
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.child(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations).done();
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.child(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {graph})
      .choice(
          CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A)
      .done();
  Descriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  cudnnBackendDescriptor_t place = configuration.get();
  std::int64_t count = 0;
  EXPECT_EQ(
      cudnnBackendGetAttribute(
          heuristic.get(),
          CUDNN_ATTR_ENGINEHEUR_RESULTS,
          CUDNN_TYPE_BACKEND_DESCRIPTOR,
          1,
          &count,
          &place),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {configuration});
  return plan.done();
}

using Bindings = std::vector<std::pair<std::int64_t, void*>>;

inline Descriptor pack_of(const Bindings& bindings) {
  Dims uids;
  std::vector<void*> pointers;
  for (const auto& [uid, pointer] : bindings) {
    uids.push_back(uid);
    pointers.push_back(pointer);
  }
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
      .set(
          CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers);
  return pack.done();
}

/// A test with a handle.
class HandleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cudnnDestroy(handle), CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  void run(
      const std::vector<Descriptor>& operations,
      const Bindings& bindings) {
    EXPECT_EQ(
        cudnnBackendExecute(
            handle, plan_of(operations).get(), pack_of(bindings).get()),
        CUDNN_STATUS_SUCCESS)
        << Descriptor::said();
  }

  cudnnHandle_t handle = nullptr;
};

inline std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  return blas::testing::random<float>(static_cast<std::size_t>(count), seed);
}

inline void expect_near(
    const std::vector<float>& values,
    const std::vector<double>& wanted,
    double tolerance) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], wanted[i], tolerance) << "element " << i;
  }
}

} // namespace accelerator::dnn::testing
