"""Several gradients of one result at once (vmap), of composites that the host computes as a whole."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch import nn
from torch.nn import functional

_Work = Callable[[torch.Tensor], torch.Tensor]


def _recurrent(numbers: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(1)
    result: torch.Tensor = nn.GRU(4, 5, batch_first=True).to(numbers.device)(numbers)[0]
    return result


class BatchedGradientsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("attention", lambda a: functional.scaled_dot_product_attention(a, a, a)),
        ("a recurrent network", _recurrent),
    )
    def test_all_at_once_as_one_by_one(self, work: _Work) -> None:
        torch.manual_seed(0)
        numbers = torch.randn(2, 3, 4, device="cuda").requires_grad_()
        result = work(numbers)
        gradients = torch.randn(6, *result.shape, device="cuda")
        (found,) = torch.autograd.grad(
            result, numbers, gradients, is_grads_batched=True, retain_graph=True
        )
        wanted = [
            torch.autograd.grad(result, numbers, gradient, retain_graph=True)[0]
            for gradient in gradients
        ]
        self.assertTrue(found.is_cuda)
        torch.testing.assert_close(found, torch.stack(wanted))


if __name__ == "__main__":
    absltest.main()
