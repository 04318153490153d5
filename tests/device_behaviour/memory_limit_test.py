"""A device that runs out of memory says so, and goes on working."""

from __future__ import annotations

import os

# Read when the device is first used, so it has to be there before that.
os.environ["CUDASIM_MEMORY"] = "256M"

import torch
from absl.testing import absltest

from tests.device_behaviour import programs

MEBIBYTE = 1 << 20


def block(mebibytes: int) -> torch.Tensor:
    return torch.empty(mebibytes * MEBIBYTE, dtype=torch.uint8, device="cuda")


@absltest.skipUnless(programs.IS_SIMULATED, "the size is the simulated device's")
class MemoryLimitTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.cuda.empty_cache()

    def test_the_size_is_what_was_asked_for(self) -> None:
        free, total = torch.cuda.mem_get_info()
        self.assertEqual(total, 256 * MEBIBYTE)
        self.assertLessEqual(free, total)
        self.assertEqual(torch.cuda.get_device_properties(0).total_memory, total)

    def test_too_much_at_once(self) -> None:
        with self.assertRaisesRegex(
            torch.cuda.OutOfMemoryError,
            r"CUDA out of memory\. Tried to allocate 300\.00 MiB\. GPU 0 has a total capacity of "
            r"256\.00 MiB",
        ):
            block(300)

    def test_too_much_in_the_end(self) -> None:
        held = []
        with self.assertRaises(torch.OutOfMemoryError):
            for _ in range(100):
                held.append(block(32))
        self.assertBetween(len(held), 6, 8)
        # What was there is still what it was, and the device computes.
        held[0].fill_(7)
        self.assertEqual(held[0][:1000].unique().tolist(), [7])

    def test_what_was_freed_can_be_had_again(self) -> None:
        held = [block(60) for _ in range(3)]
        with self.assertRaises(torch.OutOfMemoryError):
            block(120)
        del held
        # The allocator has three pieces of 60; it has to give them back first.
        self.assertEqual(block(180).nbytes, 180 * MEBIBYTE)

    def test_in_the_middle_of_a_computation(self) -> None:
        column = torch.ones(20_000, 1, device="cuda")
        with self.assertRaises(torch.OutOfMemoryError):
            column + column.t()
        with self.assertRaises(torch.OutOfMemoryError):
            column @ column.t()
        self.assertEqual((column.t() @ column).item(), 20_000)

    def test_memory_comes_back_after_a_failed_step(self) -> None:
        before = torch.cuda.memory_allocated()
        parameter = torch.nn.Parameter(torch.ones(1000, 1000, device="cuda"))
        with self.assertRaises(torch.OutOfMemoryError):
            kept: list[torch.Tensor] = [parameter]
            for _ in range(200):
                kept.append(kept[-1] * 2)
        del kept, parameter
        self.assertEqual(torch.cuda.memory_allocated(), before)


if __name__ == "__main__":
    absltest.main()
