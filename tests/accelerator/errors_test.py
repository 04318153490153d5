"""What a program does wrong is said as CUDA says it: the device is "cuda"."""

from __future__ import annotations

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional


class ErrorsTest(parameterized.TestCase):
    def test_operands_on_different_devices(self) -> None:
        here = torch.ones(3, device="cuda:0")
        with self.assertRaisesRegex(RuntimeError, "same device.*cuda:0.*cpu"):
            here + torch.ones(3)
        with self.assertRaisesRegex(RuntimeError, "same device.*cuda:0.*cuda:1"):
            here + torch.ones(3, device="cuda:1")
        with self.assertRaisesRegex(RuntimeError, "same device.*cuda:0.*cpu"):
            here.view(1, 3) @ torch.ones(3, 1)

    def test_shapes(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "must match the size"):
            torch.ones(3, device="cuda") + torch.ones(4, device="cuda")

    def test_out_of_memory(self) -> None:
        total = torch.cuda.get_device_properties(0).total_memory
        with self.assertRaisesRegex(torch.OutOfMemoryError, "CUDA out of memory"):
            torch.zeros(2 * total, dtype=torch.uint8, device="cuda")
        self.assertEqual(torch.ones(2, device="cuda").sum().item(), 2)

    def test_what_cudnn_alone_has_is_not_chosen(self) -> None:
        scores = torch.randn(5, 2, 4).log_softmax(2)
        targets, lengths = (
            torch.tensor([[1, 2], [3, 1]]),
            (torch.tensor([5, 5]), torch.tensor([2, 2])),
        )
        wanted = functional.ctc_loss(scores, targets, *lengths)
        found = functional.ctc_loss(scores.cuda(), targets.cuda(), *lengths)
        torch.testing.assert_close(found.cpu(), wanted)


if __name__ == "__main__":
    absltest.main()
