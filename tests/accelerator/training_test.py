"""A device that runs no CUDA code trains, and computes the CPU's very numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest, parameterized

from tests.accelerator import models


class TrainingTest(parameterized.TestCase):
    @parameterized.parameters(
        models.cnn,
        models.transformer,
        models.mixed_precision,
    )
    def test_losses_are_the_cpu_s(self, train: Callable[[str], list[float]]) -> None:
        losses = train("cuda")
        self.assertLen(set(losses), len(losses))
        self.assertEqual(losses, train("cpu"))

    def test_losses_in_half_precision(self) -> None:
        # CUDA's kernels add the gradients of convolutions in single precision, the CPU's in half.
        losses, wanted = models.half_precision("cuda"), models.half_precision("cpu")
        self.assertLen(set(losses), len(losses))
        torch.testing.assert_close(losses, wanted, rtol=1e-4, atol=0)

    @parameterized.parameters(models.recurrent, models.gru)
    def test_losses_of_recurrent_networks(self, train: Callable[[str], list[float]]) -> None:
        # Upstream's cells on CUDA add the biases after the products, the CPU's within them: single
        # precision's last bits differ, and grow with the steps.
        losses, wanted = train("cuda"), train("cpu")
        self.assertLen(set(losses), len(losses))
        torch.testing.assert_close(losses, wanted, rtol=2e-6, atol=0)

    @parameterized.product(
        optimizer=[torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD],
        how=[{"fused": True}, {"foreach": True}, {"foreach": False}],
    )
    def test_optimizers_with_kernels_of_their_own(
        self, optimizer: Callable[..., torch.optim.Optimizer], how: dict[str, Any]
    ) -> None:
        weights = []
        for device in ("cpu", "cuda"):
            torch.manual_seed(0)
            model = torch.nn.Linear(16, 4).to(device)
            optimize = optimizer(model.parameters(), lr=0.1, **how)
            torch.manual_seed(1)  # the model's numbers came from the host's generator
            for _ in range(3):
                optimize.zero_grad()
                model(torch.randn(5, 16, device=device)).square().mean().backward()
                optimize.step()
            weights.append(model.weight.detach().cpu())
        torch.testing.assert_close(weights[1], weights[0], rtol=0, atol=0)

    def test_tensors_are_cuda_s(self) -> None:
        tensor = torch.ones(3, device="cuda") + 1
        self.assertEqual(tensor.device, torch.device("cuda", 0))
        self.assertTrue(tensor.is_cuda)
        self.assertIn("device='cuda:0'", repr(tensor))


if __name__ == "__main__":
    absltest.main()
