#include "runtime/libraries/dnn/graph/attributes.h"

#include <algorithm>
#include <limits>
#include <map>

namespace accelerator::dnn {
namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();

constexpr Attribute one(
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    std::int64_t most,
    Need need) {
  return {name, type, most, need, type};
}

constexpr Attribute either(
    cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type,
    cudnnBackendAttributeType_t other,
    std::int64_t most,
    Need need) {
  return {name, type, most, need, other};
}

/// Another descriptor.
constexpr Attribute child(cudnnBackendAttributeName_t name, Need need) {
  return one(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, need);
}

using Table = std::map<cudnnBackendDescriptorType_t, std::vector<Attribute>>;

// clang-format off
const Table& table() {
  static const Table kinds{
      {CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       {
           one(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, Need::kRequired),
           one(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, Need::kOptional),
           one(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, Need::kOptional),
           either(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_POINTWISE_SWISH_BETA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           one(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       {
           one(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, Need::kRequired),
           one(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, Need::kRequired),
           one(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, Need::kRequired),
           one(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
       }},
      {CUDNN_BACKEND_ENGINE_DESCRIPTOR,
       {
           child(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, Need::kRequired),
           one(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, Need::kRequired),
           one(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, kMany, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINE_LAYOUT_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, kMany, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINE_SM_COUNT_TARGET, CUDNN_TYPE_INT32, 1, Need::kOptional),
           child(CUDNN_ATTR_ENGINE_DEVICEPROP, Need::kOptional),
           one(CUDNN_ATTR_ENGINE_DISABLE_CLUSTER_COOPERATIVE, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           one(CUDNN_ATTR_ENGINE_SHARED_MEMORY_LIMIT, CUDNN_TYPE_INT32, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
       {
           child(CUDNN_ATTR_ENGINECFG_ENGINE, Need::kRequired),
           one(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kOptional),
           one(CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, CUDNN_TYPE_INT32, 1, Need::kReadOnly),
       }},
      {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
       {
           child(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, Need::kRequired),
           one(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, Need::kRequired),
           one(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kReadOnly),
           one(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET, CUDNN_TYPE_INT32, 1, Need::kOptional),
           child(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, Need::kOptional),
           one(CUDNN_ATTR_ENGINEHEUR_SHARED_MEMORY_LIMIT, CUDNN_TYPE_INT32, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
       {
           one(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, Need::kOptional),
           child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, Need::kOptional),
           one(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS, CUDNN_TYPE_INT64, kMany, Need::kOptional),
           one(CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS, CUDNN_TYPE_INT64, kMany, Need::kOptional),
           one(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kMany, Need::kOptional),
           child(CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE, Need::kOptional),
           child(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, Need::kOptional),
           one(CUDNN_ATTR_EXECUTION_PLAN_CUDA_GRAPH_RETENTION, CUDNN_TYPE_CUDA_GRAPH_RETENTION, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
       {
           one(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, Need::kRequired),
           one(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, Need::kRequired),
       }},
      {CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR,
       {
           one(CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, Need::kReadOnly),
           one(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
       }},
      {CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR,
       {
           one(CUDNN_ATTR_LAYOUT_INFO_TENSOR_UID, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_LAYOUT_INFO_TYPES, CUDNN_TYPE_LAYOUT_TYPE, kMany, Need::kReadOnly),
       }},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {
           either(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kRequired),
           either(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {
           either(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kRequired),
           either(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {
           either(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kRequired),
           either(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, Need::kOptional),
           either(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kOptional),
           either(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, 1, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, Need::kOptional),
           one(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kRequired),
           one(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           one(CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           one(CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           one(CUDNN_ATTR_OPERATIONGRAPH_MODE, CUDNN_TYPE_OPERATIONGRAPH_MODE, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
       {
           one(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, kMany, Need::kOptional),
           one(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, kMany, Need::kOptional),
           one(CUDNN_ATTR_VARIANT_PACK_INTERMEDIATES, CUDNN_TYPE_VOID_PTR, kMany, Need::kOptional),
           one(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
       {
           one(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_TENSOR_VECTOR_COUNT, CUDNN_TYPE_INT64, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, CUDNN_TYPE_INT64, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, Need::kRequired),
           one(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_REORDERING_MODE, CUDNN_TYPE_TENSOR_REORDERING_MODE, 1, Need::kOptional),
           child(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, CUDNN_TYPE_INT64, 1, Need::kOptional),
           one(CUDNN_ATTR_TENSOR_CONSTANT_VALUE, CUDNN_TYPE_VOID_PTR, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_MATMUL_DESCRIPTOR,
       {
           one(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, Need::kRequired),
           either(CUDNN_ATTR_MATMUL_PADDING_VALUE, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_MATMUL_ADESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_MATMUL_BDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_MATMUL_CDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_MATMUL_DESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_MATMUL_IRREGULARLY_STRIDED_BATCH_COUNT, CUDNN_TYPE_INT64, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, CUDNN_TYPE_BN_FINALIZE_STATS_MODE, 1, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
       {
           one(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, Need::kRequired),
           one(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, Need::kRequired),
           one(CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_REDUCTION_DESC, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, Need::kRequired),
       }},
      {CUDNN_BACKEND_RESAMPLE_DESCRIPTOR,
       {
           one(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, 1, Need::kOptional),
           one(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, Need::kOptional),
           one(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, Need::kRequired),
           either(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_INT64, CUDNN_TYPE_FRACTION, CUDNN_DIM_MAX, Need::kRequired),
           either(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_INT64, CUDNN_TYPE_FRACTION, CUDNN_DIM_MAX, Need::kRequired),
           either(CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_INT64, CUDNN_TYPE_FRACTION, CUDNN_DIM_MAX, Need::kRequired),
           either(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_INT64, CUDNN_TYPE_FRACTION, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, Need::kOptional),
           one(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, Need::kOptional),
           either(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, Need::kOptional),
           either(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATION_CONCAT_AXIS, CUDNN_TYPE_INT64, 1, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX, CUDNN_TYPE_INT64, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
       {
           one(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_RESHAPE_MODE, CUDNN_TYPE_RESHAPE_MODE, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_RNG_DESCRIPTOR,
       {
           one(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, 1, Need::kOptional),
           either(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           either(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_RNG_YDESC, Need::kRequired),
           either(CUDNN_ATTR_OPERATION_RNG_SEED, CUDNN_TYPE_INT64, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_RNG_DESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR,
       {
           child(CUDNN_ATTR_KERNEL_CACHE_OPERATION_GRAPH, Need::kOptional),
           child(CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED, Need::kReadOnly),
           one(CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kMany, Need::kOptional),
           one(CUDNN_ATTR_KERNEL_CACHE_REVISION, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
           one(CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT, CUDNN_TYPE_INT64, 1, Need::kReadOnly),
       }},
      {CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
       {
           one(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, Need::kOptional),
           one(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, Need::kOptional),
           one(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kMany, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH, Need::kOptional),
           one(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID, CUDNN_TYPE_INT64, 1, Need::kOptional),
           one(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID, CUDNN_TYPE_INT64, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_OFFSET_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_RNG_DUMP_DESC, Need::kOptional),
           one(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY, CUDNN_TYPE_FLOAT, 1, Need::kOptional),
           one(CUDNN_ATTR_OPERATION_SDPA_FWD_UNFUSE_FMA, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_KDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_VDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_SDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_SDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_ODESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_SDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_KVDESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC, Need::kOptional),
           child(CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, Need::kOptional),
           one(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2, CUDNN_TYPE_BOOLEAN, 1, Need::kOptional),
       }},
      {CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
       }},
      {CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR,
       {
           child(CUDNN_ATTR_OPERATION_SLICE_XDESC, Need::kRequired),
           child(CUDNN_ATTR_OPERATION_SLICE_YDESC, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_SLICE_START_INDICES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
           one(CUDNN_ATTR_OPERATION_SLICE_STRIDES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, Need::kRequired),
       }},
  };
  return kinds;
}
// clang-format on

} // namespace

const std::vector<Attribute>& attributes_of(cudnnBackendDescriptorType_t kind) {
  static const std::vector<Attribute> none;
  const auto found = table().find(kind);
  return found == table().end() ? none : found->second;
}

const Attribute* find_attribute(
    cudnnBackendDescriptorType_t kind,
    cudnnBackendAttributeName_t name) {
  const std::vector<Attribute>& all = attributes_of(kind);
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Attribute& attribute) {
        return attribute.name == name;
      });
  return found == all.end() ? nullptr : &*found;
}

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return sizeof(void*);
    case CUDNN_TYPE_INT64:
      return sizeof(std::int64_t);
    case CUDNN_TYPE_DOUBLE:
      return sizeof(double);
    case CUDNN_TYPE_FRACTION:
      return sizeof(cudnnFraction_t);
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    default:
      // Enumerations, float and int.
      return type >= CUDNN_TYPE_HANDLE &&
              type <= CUDNN_TYPE_CUDA_GRAPH_RETENTION
          ? sizeof(int)
          : 0;
  }
}

} // namespace accelerator::dnn
