"""Two devices of one library, each with its own memory and streams."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized
from torch import nn


class SeveralDevicesTest(parameterized.TestCase):
    def test_both_are_there_with_their_names(self) -> None:
        self.assertEqual(torch.cuda.device_count(), 2)
        for device in range(2):
            self.assertIn("Fake", torch.cuda.get_device_name(device))

    def test_results_are_where_the_operands_are(self) -> None:
        for device in ("cuda:0", "cuda:1"):
            before = torch.cuda.memory_allocated(device)
            result = torch.ones(256, device=device) + 1
            self.assertEqual(str(result.device), device)
            self.assertEqual(torch.cuda.memory_allocated(device) - before, 1024)
        other = torch.ones(3, device="cuda:1")
        self.assertEqual((other @ other).device.index, 1)
        self.assertEqual(torch.cuda.current_device(), 0)

    @parameterized.parameters(("cuda:0", "cuda:1"), ("cuda:1", "cuda:0"))
    def test_copies_between_them(self, source: str, target: str) -> None:
        values = torch.randn(7, 5)
        there = values.to(source)
        for part in (there, there.t(), there[::2, 1:], there.double().t()):
            moved = part.to(target)
            self.assertEqual(str(moved.device), target)
            torch.testing.assert_close(moved.cpu(), part.cpu(), rtol=0, atol=0)

    def test_a_model_that_is_split_learns_as_on_the_cpu(self) -> None:
        def train(first: str, second: str) -> list[float]:
            torch.manual_seed(0)
            lower = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh()).to(first)
            upper = nn.Linear(16, 3).to(second)
            optimizer = torch.optim.Adam([*lower.parameters(), *upper.parameters()], 1e-2)
            losses = []
            for _ in range(5):
                optimizer.zero_grad()
                inputs = torch.randn(4, 8).to(first)
                labels = torch.randint(3, (4,)).to(second)
                loss = nn.functional.cross_entropy(upper(lower(inputs).to(second)), labels)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses

        self.assertEqual(train("cuda:0", "cuda:1"), train("cpu", "cpu"))

    def test_lists_of_tensors_of_several_devices(self) -> None:
        devices = ("cuda:0", "cuda:1", "cpu")
        ones = [torch.ones(3, device=device) for device in devices] + [torch.tensor(1.0)]
        for found in (torch._foreach_add(ones, 2), torch._foreach_add(ones, ones, alpha=2)):
            self.assertEqual([each.device for each in found], [each.device for each in ones])
            self.assertEqual([each.tolist() for each in found], [[3.0] * 3] * 3 + [3.0])
        torch._foreach_mul_(ones, 4)
        self.assertEqual([each.tolist() for each in ones], [[4.0] * 3] * 3 + [4.0])

    def test_sparse_tensors_are_copied(self) -> None:
        devices = ("cuda:0", "cuda:1", "cpu")
        dense = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
        for here in devices:
            for there in devices:
                for layout in (torch.sparse_coo, torch.sparse_csr):
                    source = dense.to_sparse(layout=layout).to(here)
                    target = (3 * dense).to_sparse(layout=layout).to(there)
                    target.copy_(source)
                    self.assertEqual(str(target.device), there)
                    self.assertEqual(target.to_dense().tolist(), dense.tolist())


if __name__ == "__main__":
    absltest.main()
