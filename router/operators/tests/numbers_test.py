"""Numbers as arguments: those of 64 bits without a sign."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized

_MOST = 2**64 - 1


class UnsignedTest(parameterized.TestCase):
    @parameterized.parameters(0, 2**63 - 1, 2**63, _MOST)
    def test_fill(self, number: int) -> None:
        filled = torch.empty(3, dtype=torch.uint64, device="cuda").fill_(number)
        self.assertEqual(filled.tolist(), [number] * 3)
        full = torch.full((2,), number, dtype=torch.uint64, device="cuda")
        self.assertEqual(full.tolist(), [number] * 2)

    @parameterized.parameters("eq", "ne")
    def test_comparisons(self, name: str) -> None:
        numbers = torch.tensor([5, 2**63, _MOST], dtype=torch.uint64)
        for number in (5, 2**63, _MOST):
            wanted = getattr(numbers, name)(number)
            found = getattr(numbers.cuda(), name)(number)
            self.assertTrue(found.is_cuda)
            self.assertEqual(found.tolist(), wanted.tolist())


if __name__ == "__main__":
    absltest.main()
