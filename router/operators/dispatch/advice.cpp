// By name, or by how it begins or what is in it.
#include "router/operators/dispatch/advice.h"

#include <string>
#include <string_view>

namespace torch_cuda::operators {
namespace {

struct Advice {
  std::string_view part; // of the name
  const char* instead;
};

// The first that fits.
constexpr Advice kAdvice[] = {
    {"aten::miopen_rnn", "torch.nn.LSTM, GRU or RNN"},
    {"aten::miopen_ctc_loss", "torch.nn.functional.ctc_loss"},
    {"aten::miopen_batch_norm", "torch.nn.functional.batch_norm"},
    {"aten::miopen_", "torch.nn.functional.conv2d and its kin"},
    {"aten::_sparse_semi_structured_",
     "torch.sparse.to_sparse_semi_structured of a matrix that was pruned "
     "before, without its training"},
    {"aten::_spsolve", "torch.linalg.solve(A.to_dense(), B)"},
    {"aten::bmm", "torch.mm of each matrix, or to_dense()"},
    {"aten::baddbmm", "torch.addmm of each matrix, or to_dense()"},
    {"aten::_triton_multi_head_attention", "torch.nn.MultiheadAttention"},
    {"_attention", "torch.nn.functional.scaled_dot_product_attention"},
    {"aten::_fill_mem_eff_dropout_mask_", "torch.Tensor.bernoulli_"},
    {"symm_mem::", "the collectives of torch.distributed"},
    {"c10d::check_for_nan",
     "torch.isnan, with TORCH_NCCL_NAN_CHECK not set in the environment"},
};

} // namespace

const char* instead_of(const c10::OperatorName& name) {
  for (const auto& advice : kAdvice) {
    if (name.name.find(advice.part) != std::string::npos) {
      return advice.instead;
    }
  }
  return nullptr;
}

} // namespace torch_cuda::operators
