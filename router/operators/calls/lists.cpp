// The lists.
#include "router/operators/calls/lists.h"

#include "router/operators/dispatch/names.h"

#include <string>
#include <string_view>
#include <unordered_set>

namespace torch_cuda::operators {
namespace {

using Names = std::unordered_set<std::string_view>;

bool contains(const Names& names, const c10::OperatorName& name) {
  return names.count(c10::toString(name)) != 0;
}

} // namespace

bool is_upstreams(const c10::OperatorName& name) {
  static const Names names = {
      "aten::empty.memory_format",
      "aten::empty_strided",
      "aten::set_",
      "aten::set_.source_Storage",
      "aten::set_.source_Storage_storage_offset",
      "aten::set_.source_Tensor",
      "aten::resize_",
      "aten::resize_as_sparse_",
      "aten::record_stream",
      "aten::is_pinned",
      "aten::_pin_memory",
      "aten::_local_scalar_dense",
      "aten::is_set_to",
      "aten::_efficientzerotensor",
      "aten::_nnz",
      "aten::sparse_dim",
      "aten::dense_dim",
      "aten::is_coalesced",
      "aten::_coalesced_",
      "aten::sparse_resize_",
      "aten::sparse_resize_and_clear_",
      "aten::_sparse_coo_tensor_with_dims",
      "aten::_sparse_coo_tensor_with_dims_and_tensors",
      "aten::_nested_tensor_size",
      "aten::_nested_tensor_strides",
      "aten::_nested_tensor_storage_offsets",
      "aten::q_scale",
      "aten::q_zero_point",
      "aten::q_per_channel_axis",
      "aten::qscheme",
      "aten::native_dropout",
  };
  return is_collective(name) || contains(names, name);
}

bool is_general(const c10::OperatorName& name) {
  static const Names names = {"aten::copy_sparse_to_sparse_"};
  return is_copy(name) || contains(names, name);
}

bool is_routed_composite(const c10::OperatorName& name) {
  static const Names names = {
      // Not `convolution`, which is made of it, and which no trace records.
      "aten::_convolution",
      "aten::convolution_backward",
      "aten::convolution_overrideable",
      "aten::convolution_backward_overrideable",
      "aten::_convolution_double_backward",
      "aten::conj_physical_",
      "aten::mode.values",
  };
  return is_copy(name) || contains(names, name);
}

bool is_routed_where_explicit(const c10::OperatorName& name) {
  static const Names names = {
      "aten::ldexp.Tensor",
      "aten::ldexp_",
      "aten::ldexp.out",
  };
  return contains(names, name);
}

bool asks_for_gradients(const c10::OperatorName& name) {
  static const Names names = {"aten::_sparse_mm_reduce_impl"};
  return contains(names, name);
}

bool compares_references(const c10::OperatorName& name) {
  static const Names names = {
      "aten::addr.out",
      "aten::addmm.out",
      "aten::addmv.out",
      "aten::sparse_sampled_addmm.out",
  };
  return contains(names, name);
}

bool is_copy(const c10::OperatorName& name) {
  return name.name == "aten::copy_" && name.overload_name.empty();
}

} // namespace torch_cuda::operators
