"""A device that runs no CUDA code beside the simulated one, which does, in one process."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized
from torch import nn

FAKE = torch.device("cuda", 0)
SIM = torch.device("cuda", 1)


class MixedTest(parameterized.TestCase):
    def test_both_are_there(self) -> None:
        self.assertEqual(torch.cuda.device_count(), 2)
        self.assertIn("Fake", torch.cuda.get_device_name(FAKE))
        self.assertNotIn("Fake", torch.cuda.get_device_name(SIM))

    def test_each_device_has_its_own_kernels(self) -> None:
        # The simulated device's philox numbers are CUDA's; the other one has the CPU's.
        torch.manual_seed(1)
        host = torch.rand(100)
        torch.manual_seed(1)
        torch.testing.assert_close(torch.rand(100, device=FAKE).cpu(), host, rtol=0, atol=0)
        self.assertFalse(torch.equal(torch.rand(100, device=SIM).cpu(), host))

    def test_what_runs_code_can_be_captured(self) -> None:
        with torch.cuda.device(SIM):
            tensor = torch.ones(3, device=SIM)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = tensor + 1
            tensor.fill_(5)
            graph.replay()
            self.assertEqual(result.tolist(), [6, 6, 6])

    def test_operators_compute_the_same(self) -> None:
        left, right = torch.randn(9, 4), torch.randn(4, 6)
        for device in (FAKE, SIM):
            here = left.to(device)
            product = here @ right.to(device)
            self.assertEqual(product.device, device)
            torch.testing.assert_close(product.cpu(), left @ right)
            torch.testing.assert_close(torch.cat([here, here]).cpu(), torch.cat([left, left]))
            torch.testing.assert_close(here.softmax(1).cpu(), left.softmax(1))
            self.assertEqual(torch.arange(5, device=device).tolist(), [0, 1, 2, 3, 4])
            self.assertEqual(nn.functional.dropout(here, 0.5).device, device)

    @parameterized.parameters((FAKE, SIM), (SIM, FAKE))
    def test_copies_between_them(self, source: torch.device, target: torch.device) -> None:
        values = torch.randn(7, 5)
        there = values.to(source)
        for part in (there, there.t(), there[::2, 1:], there.double().t()):
            moved = part.to(target)
            self.assertEqual(moved.device, target)
            torch.testing.assert_close(moved.cpu(), part.cpu(), rtol=0, atol=0)

    def test_a_model_is_split_across_them(self) -> None:
        def train(first: torch.device, second: torch.device) -> torch.Tensor:
            torch.manual_seed(0)
            lower = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh()).to(first)
            upper = nn.Linear(16, 3).to(second)
            optimizer = torch.optim.Adam([*lower.parameters(), *upper.parameters()], 1e-2)
            losses = []
            for _ in range(5):
                optimizer.zero_grad()
                inputs, labels = torch.randn(4, 8), torch.randint(3, (4,))
                scores = upper(lower(inputs.to(first)).to(second))
                loss = nn.functional.cross_entropy(scores, labels.to(second))
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return torch.tensor(losses)

        host = torch.device("cpu")
        wanted = train(host, host)
        torch.testing.assert_close(train(FAKE, SIM), wanted)
        torch.testing.assert_close(train(SIM, FAKE), wanted)


if __name__ == "__main__":
    absltest.main()
