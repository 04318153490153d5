"""Streams run beside the host and each other: a missing synchronisation shows.

A callback on a stream that waits for the host holds the stream up, so nothing here depends on time.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import unittest
from collections.abc import Iterator

import torch
from absl.testing import absltest

from tests.device_behaviour import programs

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@contextlib.contextmanager
def held_up(stream: torch.cuda.Stream) -> Iterator[threading.Event]:
    """Holds up a stream until the event is set, or the context is left."""
    torch.cuda.init()
    runtime = ctypes.CDLL("libcudart.so.12")
    gate = threading.Event()
    callback = _CALLBACK(lambda _: bool(gate.wait()))
    if runtime.cudaLaunchHostFunc(ctypes.c_void_p(stream.cuda_stream), callback, None) != 0:
        raise AssertionError("cudaLaunchHostFunc failed")
    try:
        yield gate
    finally:
        gate.set()
        stream.synchronize()


class StreamsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.values = torch.zeros(1000, device="cuda")
        self.stream = torch.cuda.Stream()
        # What compiles or allocates at its first use would wait for the stream that is held up.
        with torch.cuda.stream(self.stream):
            self.values.fill_(0)
        self.assertEqual(self.values.sum().item(), 0)
        torch.cuda.synchronize()

    def test_the_host_does_not_wait(self) -> None:
        with held_up(self.stream) as gate, torch.cuda.stream(self.stream):
            self.values.fill_(1)
            done = torch.cuda.Event()
            done.record()
            self.assertFalse(self.stream.query())
            self.assertFalse(done.query())
            gate.set()
            done.synchronize()
            self.assertTrue(done.query())
        self.assertTrue(self.stream.query())

    def test_another_stream_does_not_wait(self) -> None:
        with held_up(self.stream):
            other = torch.cuda.Stream()
            with torch.cuda.stream(other):
                result = torch.ones(10, device="cuda").sum()
            other.synchronize()
            self.assertFalse(self.stream.query())
        self.assertEqual(result.item(), 10)

    def test_a_missing_synchronisation_shows(self) -> None:
        with held_up(self.stream) as gate:
            with torch.cuda.stream(self.stream):
                self.values.fill_(1)
            self.assertEqual(self.values.sum().item(), 0, "the old values")
            gate.set()
            torch.cuda.current_stream().wait_stream(self.stream)
            self.assertEqual(self.values.sum().item(), 1000)

    def test_an_event_makes_another_stream_wait(self) -> None:
        other = torch.cuda.Stream()
        with held_up(self.stream) as gate:
            with torch.cuda.stream(self.stream):
                self.values.fill_(3)
                done = torch.cuda.Event()
                done.record()
            with torch.cuda.stream(other):
                other.wait_event(done)
                self.values.mul_(2)
            self.assertFalse(other.query())
            gate.set()
            other.synchronize()
        self.assertEqual(self.values.unique().tolist(), [6])

    def test_a_copy_to_pinned_memory_does_not_block(self) -> None:
        place = torch.zeros(1000, pin_memory=True)
        with held_up(self.stream) as gate:
            with torch.cuda.stream(self.stream):
                self.values.fill_(4)
                place.copy_(self.values, non_blocking=True)
            self.assertEqual(place.sum().item(), 0, "nothing has arrived")
            gate.set()
            self.stream.synchronize()
            self.assertEqual(place.unique().tolist(), [4])

    def test_products_are_work_of_their_stream(self) -> None:
        matrix = torch.eye(8, device="cuda") * 2
        result = torch.zeros(8, 8, device="cuda")
        with torch.cuda.stream(self.stream):
            torch.mm(matrix, matrix, out=result)
        self.stream.synchronize()
        result.zero_()
        torch.cuda.synchronize()
        with held_up(self.stream) as gate:
            with torch.cuda.stream(self.stream):
                torch.mm(matrix, matrix, out=result)
            self.assertEqual(result.sum().item(), 0)
            gate.set()
            self.stream.synchronize()
            self.assertEqual(result.sum().item(), 32)

    @unittest.skipUnless(programs.IS_SIMULATED, "a setting of the simulated device")
    def test_in_order_nothing_runs_beside_the_host(self) -> None:
        program = """
            import torch
            values = torch.zeros(1000, device="cuda")
            stream = torch.cuda.Stream()
            seen = []
            for number in range(1, 20):
                with torch.cuda.stream(stream):
                    torch.cuda._sleep(1_000_000)
                    values.fill_(number)
                # No synchronisation: the work is done when the call comes back.
                seen.append(stream.query() and values.sum().item() == 1000 * number)
            print(all(seen))
        """
        self.assertEqual(programs.output(program, CUDASIM_SYNC="1"), "True")


if __name__ == "__main__":
    absltest.main()
