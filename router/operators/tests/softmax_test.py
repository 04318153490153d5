"""Softmax of half precision in single precision, as under autocast: CUDA does both in one step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional


class SoftmaxTest(parameterized.TestCase):
    @parameterized.parameters(
        (functional.softmax, torch.float16),
        (functional.log_softmax, torch.float16),
        (functional.softmax, torch.bfloat16),
    )
    def test_to_single_precision(
        self, function: Callable[..., torch.Tensor], type_: torch.dtype
    ) -> None:
        torch.manual_seed(0)
        scores = torch.randn(5, 7).to(type_)
        gradient = torch.randn(5, 7)
        here = scores.cuda().requires_grad_()
        there = scores.clone().requires_grad_()
        found = function(here, 1, dtype=torch.float32)
        wanted = function(there.float(), 1)
        self.assertEqual(found.dtype, torch.float32)
        self.assertTrue(torch.equal(found.cpu(), wanted))
        found.backward(gradient.cuda())
        wanted.backward(gradient)
        assert here.grad is not None
        assert there.grad is not None
        self.assertEqual(here.grad.dtype, type_)
        self.assertTrue(torch.equal(here.grad.cpu(), there.grad))

    def test_under_autocast(self) -> None:
        scores = torch.randn(3, 4, device="cuda").half()
        with torch.autocast("cuda", dtype=torch.float16):
            found = functional.softmax(scores, 1)
        self.assertTrue(torch.equal(found.cpu(), functional.softmax(scores.cpu().float(), 1)))

    def test_in_a_graph(self) -> None:
        scores = torch.randn(3, 4, device="cuda").half()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = functional.softmax(scores, 1, dtype=torch.float32)
        scores.fill_(1)
        graph.replay()
        torch.cuda.synchronize()
        self.assertTrue(torch.equal(found.cpu(), torch.full((3, 4), 0.25)))


if __name__ == "__main__":
    absltest.main()
