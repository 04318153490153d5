"""What a program does wrong is said as CUDA says it: the device is "cuda"."""

from __future__ import annotations

import torch
import torch_cuda
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

    def test_indices_alone_may_be_of_the_host(self) -> None:
        numbers = torch.arange(4.0, device="cuda:0")
        first = torch.tensor([1, 0])
        self.assertEqual(numbers[first].tolist(), [1, 0])
        numbers[first] = torch.tensor([8.0, 9.0], device="cuda:0")
        numbers[first[:1]] = torch.tensor(7.0)  # a single number
        self.assertEqual(numbers.tolist(), [9, 7, 2, 3])
        for accumulate in (False, True):
            with self.assertRaisesRegex(RuntimeError, "same device.*cuda:0.*cpu"):
                numbers.index_put_((first,), torch.ones(2), accumulate)
        for other in (first.to("cuda:1"), first.to("cuda:1") == 1):
            with self.assertRaisesRegex(RuntimeError, "indices should be either on .*cuda:0"):
                numbers[other]
        with self.assertRaisesRegex(RuntimeError, "indices should be either on .*cpu"):
            torch.arange(4.0)[first.to("cuda:0")]

    def test_results_are_not_of_the_host(self) -> None:
        numbers = torch.arange(4.0, device="cuda:0")
        with self.assertRaisesRegex(RuntimeError, "same device.*cuda:0.*cpu"):
            torch.nonzero(numbers, out=torch.empty([], dtype=torch.long))
        with self.assertRaisesRegex(RuntimeError, "same device.*cuda:0.*cpu"):
            torch.tensor(1.0).add_(numbers[0])

    def test_shapes(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "must match the size"):
            torch.ones(3, device="cuda") + torch.ones(4, device="cuda")

    def test_out_of_memory(self) -> None:
        total = torch.cuda.get_device_properties(0).total_memory
        with self.assertRaisesRegex(torch.OutOfMemoryError, "CUDA out of memory"):
            torch.zeros(2 * total, dtype=torch.uint8, device="cuda")
        self.assertEqual(torch.ones(2, device="cuda").sum().item(), 2)

    def test_every_operator_of_the_profile_is_served(self) -> None:
        # What a device refuses by name is PyTorch's as PyPI has it: tests/stock/cuda_only_test.py.
        registered = [
            name
            for name in torch._C._dispatch_get_all_op_names()
            if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA")
        ]
        self.assertGreater(len(registered), 1000)
        refused = [name for name in registered if torch_cuda.served_by(name, 0) == "none"]
        self.assertEmpty(refused)

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
