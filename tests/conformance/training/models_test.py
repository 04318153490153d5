"""Models train as they do on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch import nn

from tests.accelerator import models
from tests.conformance.training import host_numbers, topic


class ModelsTest(topic.TopicTest, parameterized.TestCase):
    @parameterized.parameters(
        (models.cnn, 2e-3),
        (models.transformer, 2e-3),
        (models.recurrent, 2e-3),
        (models.gru, 2e-3),
        (models.mixed_precision, 5e-2),
        (models.half_precision, 5e-2),
    )
    def test_losses_are_near_the_cpu_s(
        self, train: Callable[[str], list[float]], tolerance: float
    ) -> None:
        found, expected = (host_numbers.on_host(train, device) for device in ("cuda", "cpu"))
        self.assertGreater(expected.unique().numel(), 1)
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)

    @parameterized.parameters(models.cnn, models.transformer, models.recurrent)
    def test_a_seed_trains_the_same_way_twice(self, train: Callable[[str], list[float]]) -> None:
        first, second = (torch.tensor(train("cuda")) for _ in range(2))
        self.assertTrue(first.isfinite().all().item())
        torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)

    @parameterized.product(
        optimizer=[torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD],
        how=[{"fused": True}, {"foreach": True}, {"foreach": False}],
    )
    def test_optimizers_do_the_cpu_s_steps(
        self, optimizer: Callable[..., torch.optim.Optimizer], how: dict[str, bool]
    ) -> None:
        weights = []
        for device in ("cpu", "cuda"):
            torch.manual_seed(0)
            model = nn.Linear(16, 4)
            inputs = torch.randn(5, 16).to(device)
            model.to(device)
            optimize = optimizer(model.parameters(), lr=0.1, **how)
            for _ in range(3):
                optimize.zero_grad()
                model(inputs).square().mean().backward()
                optimize.step()
            weights.append(model.weight.detach().cpu())
        torch.testing.assert_close(weights[1], weights[0], rtol=1e-3, atol=1e-4)

    def test_a_model_learns(self) -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)).cuda()
        optimizer = torch.optim.Adam(model.parameters(), 5e-2)
        points = torch.rand(200, 2, device="cuda") * 2 - 1
        labels = (points.prod(1) > 0).long()
        for _ in range(150):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(points), labels).backward()
            optimizer.step()
        right = model(points).argmax(1).eq(labels).float().mean().item()
        self.assertGreater(right, 0.9)

    def test_a_model_over_two_devices(self) -> None:
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two devices")

        def train(first: str, second: str) -> list[float]:
            torch.manual_seed(0)
            lower = nn.Sequential(nn.Linear(8, 16), nn.Tanh()).to(first)
            upper = nn.Linear(16, 3).to(second)
            optimizer = torch.optim.Adam([*lower.parameters(), *upper.parameters()], 1e-2)
            losses = []
            for _ in range(5):
                optimizer.zero_grad()
                inputs, labels = torch.randn(4, 8).to(first), torch.randint(3, (4,)).to(second)
                loss = nn.functional.cross_entropy(upper(lower(inputs).to(second)), labels)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses

        found, expected = train("cuda:0", "cuda:1"), train("cpu", "cpu")
        torch.testing.assert_close(
            torch.tensor(found), torch.tensor(expected), rtol=1e-3, atol=1e-4
        )


if __name__ == "__main__":
    absltest.main()
