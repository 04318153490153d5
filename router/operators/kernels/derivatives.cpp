// By PyTorch's engine.
#include "router/operators/kernels/derivatives.h"

#include <torch/csrc/autograd/autograd.h>

#include <optional>

namespace torch_cuda::operators {
namespace {

using at::Tensor;

c10::impl::LocalDispatchKeySet all_but_excluded() {
  auto keys = c10::impl::tls_local_dispatch_key_set();
  keys.excluded_ =
      keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
  return keys;
}

} // namespace

WithAutograd::WithAutograd() : keys_(all_but_excluded()), mode_(true) {}

void Leaves::add(Tensor& tensor, bool wanted) {
  tensor = tensor.detach().requires_grad_(wanted);
  if (wanted) {
    leaves_.push_back(tensor);
  }
  wanted_.push_back(wanted);
}

std::vector<Tensor> Leaves::derivatives(
    const std::vector<Tensor>& results,
    const std::vector<Tensor>& gradients) const {
  const auto found = leaves_.empty() ? std::vector<Tensor>()
                                     : torch::autograd::grad(
                                           results,
                                           leaves_,
                                           gradients,
                                           /*retain_graph=*/std::nullopt,
                                           /*create_graph=*/false,
                                           /*allow_unused=*/true);
  std::vector<Tensor> all;
  size_t next = 0;
  for (const bool wanted : wanted_) {
    all.push_back(wanted ? found[next++] : Tensor());
  }
  return all;
}

} // namespace torch_cuda::operators
