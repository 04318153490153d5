"""Memory: the caching allocator's figures, limits, pinned memory, memory of several streams."""

from __future__ import annotations

import gc

import torch
from absl.testing import absltest

_MEGABYTE = 1 << 20


def filled(value: int, size: int = _MEGABYTE) -> torch.Tensor:
    """Bytes of one value on the device."""
    return torch.full((size,), value, dtype=torch.uint8, device="cuda")


class MemoryTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        gc.collect()
        torch.cuda.synchronize()

    def test_figures_follow_tensors(self) -> None:
        before = torch.cuda.memory_allocated()
        tensors = [filled(number) for number in range(4)]
        self.assertEqual(torch.cuda.memory_allocated() - before, 4 * _MEGABYTE)
        self.assertGreaterEqual(torch.cuda.memory_reserved(), torch.cuda.memory_allocated())
        tensors.clear()
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_the_peak_stays(self) -> None:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        tensor = filled(1, 3 * _MEGABYTE)
        del tensor
        self.assertGreaterEqual(torch.cuda.max_memory_allocated() - before, 3 * _MEGABYTE)
        torch.cuda.reset_peak_memory_stats()
        self.assertEqual(torch.cuda.max_memory_allocated(), before)

    def test_what_is_freed_is_used_again_and_given_back(self) -> None:
        tensor = filled(1, 40 * _MEGABYTE)
        address = tensor.data_ptr()
        del tensor
        tensor = filled(2, 40 * _MEGABYTE)
        self.assertEqual(tensor.data_ptr(), address)
        del tensor
        free = torch.cuda.mem_get_info()[0]
        torch.cuda.empty_cache()
        self.assertGreaterEqual(torch.cuda.mem_get_info()[0] - free, 40 * _MEGABYTE)

    def test_snapshots_have_the_blocks(self) -> None:
        tensor = filled(1)
        states = {
            block["address"]: block["state"]
            for segment in torch.cuda.memory_snapshot()
            for block in segment["blocks"]
        }
        self.assertEqual(states[tensor.data_ptr()], "active_allocated")
        self.assertIn("allocated", torch.cuda.memory_summary().lower())

    def test_too_much_is_an_error_after_which_all_goes_on(self) -> None:
        total = torch.cuda.mem_get_info()[1]
        kept = filled(5)
        for _ in range(3):
            with self.assertRaises(torch.OutOfMemoryError):
                torch.empty(2 * total, dtype=torch.uint8, device="cuda")
        self.assertEqual((kept + filled(1)).unique().tolist(), [6])

    def test_a_limit_of_the_program_s_own(self) -> None:
        torch.cuda.empty_cache()
        total = torch.cuda.mem_get_info()[1]
        room = torch.cuda.memory_reserved() + 64 * _MEGABYTE
        torch.cuda.set_per_process_memory_fraction(room / total)
        try:
            with self.assertRaises(torch.OutOfMemoryError):
                torch.empty(128 * _MEGABYTE, dtype=torch.uint8, device="cuda")
            self.assertEqual(filled(3)[0].item(), 3)
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)

    def test_pinned_memory_both_ways(self) -> None:
        host = torch.arange(100_000, dtype=torch.int32).pin_memory()
        self.assertTrue(host.is_pinned())
        self.assertFalse(torch.empty(3).is_pinned())
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            there = host.to("cuda", non_blocking=True)
            back = torch.empty_like(host, pin_memory=True)
            back.copy_(there, non_blocking=True)
        stream.synchronize()
        self.assertTrue(torch.equal(back, host))

    def test_memory_that_another_stream_uses_is_not_given_out(self) -> None:
        stream = torch.cuda.Stream()
        for value in range(1, 20):
            tensor = filled(value)
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                sums = tensor.clone()
                for _ in range(10):
                    sums += tensor
            tensor.record_stream(stream)
            del tensor
            filled(255)
            stream.synchronize()
            self.assertEqual(sums.cpu().unique().tolist(), [11 * value])

    def test_sizes_at_the_edges(self) -> None:
        for size in (0, 1, 255, 256, 257, 511, 512, 513, _MEGABYTE - 1, _MEGABYTE + 1):
            tensor = filled(9, size)
            self.assertEqual(tensor.nbytes, size)
            self.assertEqual(tensor.cpu().eq(9).sum().item(), size)
        many = [filled(number % 251, 100) for number in range(1000)]
        self.assertEqual([tensor[99].item() for tensor in many], [n % 251 for n in range(1000)])

    def test_strided_copies(self) -> None:
        host = torch.arange(24 * 18, dtype=torch.int16).reshape(24, 18)
        for part in (host[::2, 1:7], host.t(), host[3:20, ::5], host[:0]):
            there = part.cuda()
            self.assertTrue(torch.equal(there.cpu(), part))
            target = torch.zeros(24, 24, dtype=torch.int16, device="cuda")
            view = target[: part.shape[0], : part.shape[1]]
            view.copy_(part)
            self.assertTrue(torch.equal(view.cpu(), part))
            self.assertEqual(target.sum().item(), part.sum().item())

    def test_pools_of_the_program_s_own(self) -> None:
        pool = torch.cuda.MemPool()
        before = torch.cuda.memory_allocated()
        with torch.cuda.use_mem_pool(pool):
            tensor = filled(4)
        self.assertEqual(torch.cuda.memory_allocated() - before, _MEGABYTE)
        self.assertEqual(tensor.unique().tolist(), [4])


if __name__ == "__main__":
    absltest.main()
