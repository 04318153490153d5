"""A model trains on the device "acme" as on the CPU, and the device's own kernels serve it."""

from __future__ import annotations

import unittest

import torch
from torch import nn


def train(device: str) -> list[float]:
    """The losses of a few steps."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.SiLU())
    model.append(nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        inputs, labels = torch.randn(4, 8).to(device), torch.randint(3, (4,)).to(device)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class TrainingTest(unittest.TestCase):
    def test_the_device_is_there(self) -> None:
        self.assertEqual(torch.cuda.get_device_name(0), "acme")

    def test_losses_are_those_of_the_cpu(self) -> None:
        torch.testing.assert_close(torch.tensor(train("cuda")), torch.tensor(train("cpu")))

    def test_operators_are_served_by_our_kernels(self) -> None:
        torch.cuda.init()
        for operator in ("aten::relu", "aten::silu", "aten::silu_", "aten::silu.out"):
            self.assertIn("libaccel_acme_operators", torch._C._dispatch_dump(operator))

    def test_our_kernels_compute_what_the_cpu_does(self) -> None:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            values = torch.linspace(-4, 4, 24).to(dtype)
            for host in (values, values.reshape(4, 6).t(), values[::5], values[:0]):
                there = host.to("cuda")
                for function in (torch.relu, nn.functional.silu):
                    torch.testing.assert_close(function(there).cpu(), function(host))
                out = torch.empty_like(host, device="cuda")
                self.assertIs(torch.ops.aten.silu.out(there, out=out), out)
                torch.testing.assert_close(out.cpu(), nn.functional.silu(host))

    def test_an_operator_of_our_own(self) -> None:
        torch.cuda.init()  # loads the operators
        values = torch.linspace(-4, 4, 9, dtype=torch.float64, device="cuda", requires_grad=True)
        result = torch.ops.acme.soft_clip(values, 2.0)
        torch.testing.assert_close(result, 2 * torch.tanh(values / 2))
        self.assertTrue(
            torch.autograd.gradcheck(lambda x: torch.ops.acme.soft_clip(x, 2.0), values)
        )
        shape = torch.ops.acme.soft_clip(torch.empty(2, 3, device="meta"), 1.0)
        self.assertEqual((shape.device.type, shape.shape), ("meta", (2, 3)))

    def test_a_captured_graph_runs_our_kernels_again(self) -> None:
        values = torch.tensor([-1.0, 2.0], device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = torch.relu(values)
        for number in (3.0, -3.0):
            values.copy_(torch.tensor([number, number]))
            graph.replay()
            self.assertEqual(result.tolist(), [max(number, 0)] * 2)


if __name__ == "__main__":
    unittest.main()
