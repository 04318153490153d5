// What descriptors take, refuse and answer. The statuses are those of NVIDIA's
// library 9.28, which makes descriptors without a GPU.
#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {
namespace {

constexpr auto kTensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;

cudnnStatus_t set(
    const Descriptor& descriptor,
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    const Dims& values) {
  return cudnnBackendSetAttribute(
      descriptor.get(),
      name,
      type,
      static_cast<std::int64_t>(values.size()),
      values.data());
}

TEST(GraphDescriptor, TensorsHaveDefaults) {
  Descriptor made(kTensor);
  made.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {1})
      .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, {2, 3})
      .integers(CUDNN_ATTR_TENSOR_STRIDES, {3, 1});
  // The alignment's default is 1, which is none that a float can have.
  EXPECT_EQ(cudnnBackendFinalize(made.get()), CUDNN_STATUS_BAD_PARAM);
  made.integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4}).done();
  EXPECT_EQ(
      made.answer<int>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE),
      std::vector<int>{CUDNN_DATA_FLOAT});
  EXPECT_EQ(
      made.answer<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64),
      (Dims{3, 1}));
}

TEST(GraphDescriptor, AnswersAsManyElementsAsAreAskedFor) {
  const Descriptor made = tensor(1, {2, 3, 4});
  std::int64_t values[2] = {};
  std::int64_t count = 0;
  EXPECT_EQ(
      cudnnBackendGetAttribute(
          made.get(),
          CUDNN_ATTR_TENSOR_DIMENSIONS,
          CUDNN_TYPE_INT64,
          2,
          &count,
          values),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(values[1], 3);
}

TEST(GraphDescriptor, RefusesWhatNvidiasDoes) {
  Descriptor made(kTensor);
  std::int64_t value = 0;
  EXPECT_EQ(
      cudnnBackendGetAttribute(
          made.get(),
          CUDNN_ATTR_TENSOR_UNIQUE_ID,
          CUDNN_TYPE_INT64,
          1,
          nullptr,
          &value),
      CUDNN_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_DOUBLE, {1}),
      CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  EXPECT_EQ(
      set(made, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, {1}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {1, 2}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {}),
      CUDNN_STATUS_BAD_PARAM);
  // What is missing, or does not fit, is found out at the end.
  EXPECT_EQ(cudnnBackendFinalize(made.get()), CUDNN_STATUS_BAD_PARAM);
  made.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {1})
      .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, {2, 3})
      .integers(CUDNN_ATTR_TENSOR_STRIDES, {1});
  EXPECT_EQ(cudnnBackendFinalize(made.get()), CUDNN_STATUS_BAD_PARAM);
  made.integers(CUDNN_ATTR_TENSOR_STRIDES, {-1, 1});
  EXPECT_EQ(cudnnBackendFinalize(made.get()), CUDNN_STATUS_BAD_PARAM);
  made.integers(CUDNN_ATTR_TENSOR_STRIDES, {3, 1})
      .integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {3});
  EXPECT_EQ(cudnnBackendFinalize(made.get()), CUDNN_STATUS_BAD_PARAM);
  made.integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {12}).done();
  EXPECT_EQ(cudnnBackendFinalize(made.get()), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {1}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      cudnnBackendDestroyDescriptor(nullptr),
      CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  cudnnBackendDescriptor_t none = nullptr;
  EXPECT_EQ(
      cudnnBackendCreateDescriptor(
          static_cast<cudnnBackendDescriptorType_t>(-1), &none),
      CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
}

TEST(GraphDescriptor, LastErrorIsForgottenAsItIsRead) {
  EXPECT_NE(cudnnBackendDestroyDescriptor(nullptr), CUDNN_STATUS_SUCCESS);
  EXPECT_NE(Descriptor::said(), "");
  EXPECT_EQ(Descriptor::said(), "");
}

// An operation of a kind that nothing here computes has no engine.
TEST(GraphDescriptor, WhatIsNotSupportedHasNoEngine) {
  const Dims dims{2, 3};
  Descriptor how(CUDNN_BACKEND_RNG_DESCRIPTOR);
  Descriptor operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR);
  operation
      .child(
          CUDNN_ATTR_OPERATION_RNG_DESC,
          {how.choice(
                  CUDNN_ATTR_RNG_DISTRIBUTION,
                  CUDNN_TYPE_RNG_DISTRIBUTION,
                  CUDNN_RNG_DISTRIBUTION_NORMAL)
               .done()})
      .child(CUDNN_ATTR_OPERATION_RNG_YDESC, {tensor(1, dims)})
      .done();
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.child(CUDNN_ATTR_OPERATIONGRAPH_OPS, {operation}).done();
  EXPECT_EQ(
      graph.answer<std::int64_t>(
          CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64),
      Dims{0});
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.child(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, {graph})
      .integers(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {0});
  EXPECT_EQ(
      CUDNN_STATUS_CATEGORY(cudnnBackendFinalize(engine.get())),
      CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_NE(Descriptor::said(), "");
}

class GraphPlan : public HandleTest {};

TEST_F(GraphPlan, IsTheSameOutOfItsText) {
  const Array<float> x(std::vector<float>{1, -2, 3}), y({0, 0, 0});
  const Descriptor plan = plan_of({pointwise(
      CUDNN_POINTWISE_ABS,
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor(1, {3, 1})},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensor(2, {3, 1})}})});
  const auto text = plan.answer<char>(
      CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR);
  Descriptor again(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  again
      .set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, text)
      .done();
  EXPECT_EQ(
      cudnnBackendExecute(
          handle, again.get(), pack_of({{1, x.get()}, {2, y.get()}}).get()),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(y.values(), (std::vector<float>{1, 2, 3}));
  // Half of it is none.
  Descriptor damaged(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  std::vector<char> half(text.begin(), text.begin() + text.size() / 2);
  half.insert(half.end(), text.end() - 2, text.end());
  damaged.set(
      CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, half);
  EXPECT_EQ(
      cudnnBackendFinalize(damaged.get()),
      CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH);
}

TEST_F(GraphPlan, RefusesPointersThatAreMissingOrOutOfBounds) {
  const Array<float> x(std::vector<float>{1, -2, 3});
  const Descriptor plan = plan_of({pointwise(
      CUDNN_POINTWISE_ABS,
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor(1, {3, 1})},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensor(2, {3, 1})}})});
  const auto status = [&](const Bindings& bindings) {
    return cudnnBackendExecute(handle, plan.get(), pack_of(bindings).get());
  };
  float host[3] = {};
  EXPECT_EQ(status({{1, x.get()}}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      status({{1, x.get()}, {2, nullptr}}),
      CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_EQ(
      status({{1, x.get()}, {2, static_cast<char*>(x.get<void>()) + 4}}),
      CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(status({{1, x.get()}, {2, host}}), CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
}

// A number that the host gives is that of the call.
TEST_F(GraphPlan, TakesValuesFromTheHostAtOnce) {
  const Array<float> x(std::vector<float>{1, -2, 3}), y({0, 0, 0});
  Descriptor factor(kTensor);
  factor.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {3})
      .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, {1, 1})
      .integers(CUDNN_ATTR_TENSOR_STRIDES, {1, 1})
      .integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4})
      .flag(CUDNN_ATTR_TENSOR_IS_BY_VALUE)
      .done();
  const Descriptor plan = plan_of({pointwise(
      CUDNN_POINTWISE_MUL,
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor(1, {3, 1})},
       {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, factor},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensor(2, {3, 1})}})});
  float value = 2;
  EXPECT_EQ(
      cudnnBackendExecute(
          handle,
          plan.get(),
          pack_of({{1, x.get()}, {2, y.get()}, {3, &value}}).get()),
      CUDNN_STATUS_SUCCESS);
  value = 0;
  EXPECT_EQ(y.values(), (std::vector<float>{2, -4, 6}));
}

// As XLA does: a plan becomes a node of a graph, which gets other memory then.
TEST_F(GraphPlan, BecomesANodeOfACudaGraph) {
  const Array<float> x(std::vector<float>{1, -2, 3}), y({0, 0, 0}),
      z(y.values());
  const Descriptor plan = plan_of({pointwise(
      CUDNN_POINTWISE_ABS,
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor(1, {3, 1})},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensor(2, {3, 1})}})});
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  const auto launch = [&] {
    cudaGraphExec_t instance = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(instance, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaGraphExecDestroy(instance), cudaSuccess);
  };
  const Descriptor pack = pack_of({{1, x.get()}, {2, y.get()}});
  EXPECT_EQ(
      cudnnBackendUpdateCudaGraph(handle, plan.get(), pack.get(), graph),
      CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH);
  ASSERT_EQ(
      cudnnBackendPopulateCudaGraph(handle, plan.get(), pack.get(), graph),
      CUDNN_STATUS_SUCCESS)
      << Descriptor::said();
  EXPECT_EQ(y.values(), (std::vector<float>{0, 0, 0}));
  launch();
  EXPECT_EQ(y.values(), (std::vector<float>{1, 2, 3}));
  ASSERT_EQ(
      cudnnBackendUpdateCudaGraph(
          handle,
          plan.get(),
          pack_of({{1, x.get()}, {2, z.get()}}).get(),
          graph),
      CUDNN_STATUS_SUCCESS)
      << Descriptor::said();
  launch();
  EXPECT_EQ(z.values(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(
      cudnnBackendPopulateCudaGraph(handle, plan.get(), pack.get(), graph),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

} // namespace
} // namespace accelerator::dnn::testing
