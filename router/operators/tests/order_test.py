"""Kernels that run on the host stay in the order of their stream."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable

import torch
from absl.testing import absltest

_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DELAY = 0.3  # seconds


class OrderTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.functions: list[object] = []  # they have to outlive their calls

    def hold(self, stream: torch.cuda.Stream) -> threading.Event:
        """Keeps a stream busy until the event is set, or for a minute."""
        gate = threading.Event()
        self.launch(stream, lambda _: gate.wait(60))
        return gate

    def fill_late(self, tensor: torch.Tensor, byte: int, stream: torch.cuda.Stream) -> None:
        """Has a host function of the stream write to a tensor after a while."""
        address, size = tensor.data_ptr(), tensor.nbytes

        def fill(_: object) -> None:
            time.sleep(_DELAY)
            ctypes.memset(address, byte, size)

        self.launch(stream, fill)

    def launch(self, stream: torch.cuda.Stream, work: Callable[[object], object]) -> None:
        """Puts a host function into a stream."""
        function = _HOST_FUNCTION(work)
        self.functions.append(function)
        runtime = ctypes.CDLL("libcudart.so.12")
        launch = runtime.cudaLaunchHostFunc
        launch.argtypes = [ctypes.c_void_p, _HOST_FUNCTION, ctypes.c_void_p]
        self.assertEqual(launch(stream.cuda_stream, function, None), 0)

    def test_an_operator_comes_after_what_its_stream_does(self) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            tensor = torch.zeros(4, dtype=torch.uint8, device="cuda")
            self.fill_late(tensor, 7, stream)
            after = tensor + 1
        self.assertEqual(after.tolist(), [8] * 4)

    def test_a_copy_behind_other_work_is_not_waited_for(self) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            source = torch.arange(6, dtype=torch.uint8, device="cuda")
            target = torch.zeros_like(source)
            open_gate = self.hold(stream)
            target.copy_(source)
            copied = torch.cuda.Event()
            copied.record()
            self.assertFalse(copied.query())
            open_gate.set()
            self.assertEqual((target + 1).tolist(), [1, 2, 3, 4, 5, 6])

    def test_another_stream_waits_for_an_event(self) -> None:
        first, second = torch.cuda.Stream(), torch.cuda.Stream()
        tensor = torch.zeros(4, dtype=torch.uint8, device="cuda")
        self.fill_late(tensor, 9, first)
        done = first.record_event()
        with torch.cuda.stream(second):
            second.wait_event(done)
            self.assertEqual((tensor * 2).tolist(), [18] * 4)

    def test_an_operator_in_place_is_done_before_what_follows(self) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            tensor = torch.zeros(4, dtype=torch.uint8, device="cuda")
            self.fill_late(tensor, 3, stream)
            tensor.add_(1)
            self.fill_late(tensor, 5, stream)
        stream.synchronize()
        self.assertEqual(tensor.tolist(), [5] * 4)

    def test_memory_that_another_stream_uses_is_not_given_out(self) -> None:
        stream = torch.cuda.Stream()
        tensor = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
        address = tensor.data_ptr()
        self.fill_late(tensor, 1, stream)
        tensor.record_stream(stream)
        del tensor
        other = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
        self.assertNotEqual(other.data_ptr(), address)
        torch.cuda.synchronize()
        self.assertEqual(other.sum().item(), 0)

    def test_threads_compute_at_once(self) -> None:
        wanted = [torch.full((50,), float(n)).cumsum(0) @ torch.ones(50) for n in range(6)]
        found: dict[int, float] = {}

        def work(number: int) -> None:
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(50):
                    values = torch.full((50,), float(number), device="cuda").cumsum(0)
                    found[number] = (values @ torch.ones(50, device="cuda")).item()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual([found[number] for number in range(6)], [each.item() for each in wanted])


if __name__ == "__main__":
    absltest.main()
