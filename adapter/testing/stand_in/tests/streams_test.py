"""Streams and events of the stand-in: the order of work, and what happens while it is not done."""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
import threading
from collections.abc import Iterator

import torch
import torch_stand_in
from absl.testing import absltest

SIZE = 1 << 12
RUNTIME = ctypes.CDLL(str(pathlib.Path(torch_stand_in.__file__).parent / "lib" / "libstand_in.so"))


@contextlib.contextmanager
def held(stream: torch_stand_in.Stream) -> Iterator[None]:
    """What is put into a stream in this block is not done before its end."""
    opened = threading.Event()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: opened.wait(60) and None)
    assert RUNTIME.standLaunchHostFunc(ctypes.c_void_p(stream.stand_in_stream), function, None) == 0
    try:
        yield
    finally:
        opened.set()
        stream.synchronize()  # the function has to live until it has been called


def pinned(value: float) -> torch.Tensor:
    return torch.full((SIZE,), float(value)).pin_memory()


class StreamsTest(absltest.TestCase):
    def test_a_copy_is_not_waited_for(self) -> None:
        stream = torch_stand_in.Stream()
        with torch_stand_in.stream(stream), held(stream):
            self.assertEqual(torch_stand_in.current_stream(), stream)
            there = pinned(1).to("stand_in", non_blocking=True)
            event = stream.record_event()
            self.assertFalse(event.query())
            self.assertFalse(stream.query())
        self.assertNotEqual(torch_stand_in.current_stream(), stream)
        event.synchronize()
        self.assertTrue(stream.query())
        self.assertEqual(there.unique().tolist(), [1])

    def test_one_stream_waits_for_another(self) -> None:
        stream = torch_stand_in.Stream()
        there = torch.zeros(SIZE, device="stand_in")
        stream.wait_stream(torch_stand_in.current_stream())
        with torch_stand_in.stream(stream):
            there.copy_(pinned(2), non_blocking=True)
        torch_stand_in.current_stream().wait_stream(stream)
        self.assertEqual((there + 1).unique().tolist(), [3])

    def test_operators_are_in_their_stream_s_order(self) -> None:
        there = torch.zeros(SIZE, device="stand_in")
        there.copy_(pinned(2), non_blocking=True)
        there.add_(1)
        self.assertEqual(there.unique().tolist(), [3])

    def test_memory_is_kept_for_the_streams_that_use_it(self) -> None:
        stream = torch_stand_in.Stream()
        there = torch.zeros(SIZE, device="stand_in")
        address = there.data_ptr()
        with held(stream):
            with torch_stand_in.stream(stream):
                there.copy_(pinned(2), non_blocking=True)
            there.record_stream(stream)
            del there
            other = torch.empty(SIZE, device="stand_in")
            self.assertNotEqual(other.data_ptr(), address)
        self.assertEqual(torch.empty(SIZE, device="stand_in").data_ptr(), address)

    def test_pinned_memory_is_kept_until_it_is_copied(self) -> None:
        stream = torch_stand_in.Stream()
        with torch_stand_in.stream(stream), held(stream):
            tensor = pinned(3)
            address = tensor.data_ptr()
            there = tensor.to("stand_in", non_blocking=True)
            del tensor
            self.assertNotEqual(pinned(4).data_ptr(), address)
        self.assertEqual(there.unique().tolist(), [3])

    def test_a_stream_waits_for_an_event_of_another(self) -> None:
        stream, other = torch_stand_in.Stream(), torch_stand_in.Stream()
        event = torch_stand_in.Event()
        with held(stream):
            event.record(stream)
            other.wait_event(event)
            last = other.record_event()
            self.assertFalse(last.query())
        last.synchronize()
        self.assertTrue(event.query())

    def test_times(self) -> None:
        first, last = (torch_stand_in.Event(enable_timing=True) for _ in range(2))
        first.record()
        pinned(1).to("stand_in", non_blocking=True)
        last.record()
        last.synchronize()
        self.assertGreaterEqual(first.elapsed_time(last), 250)
        with self.assertRaisesRegex(RuntimeError, "must be recorded"):
            first.elapsed_time(torch_stand_in.Event(enable_timing=True))

    def test_generic_streams_and_events(self) -> None:
        stream = torch.Stream("stand_in:1", priority=-1)
        event = torch.Event("stand_in:1")
        event.record(stream)
        event.synchronize()
        self.assertEqual(stream.device, torch.device("stand_in", 1))
        self.assertEqual(torch.accelerator.current_accelerator().type, "stand_in")
        self.assertEqual(torch.accelerator.current_stream().device.type, "stand_in")
        torch.accelerator.synchronize()

    def test_priorities_devices_and_external_streams(self) -> None:
        urgent = torch_stand_in.Stream(1, priority=-1)
        self.assertEqual((urgent.device.index, urgent.priority), (1, -1))
        with torch_stand_in.stream(urgent):
            self.assertEqual(torch_stand_in.current_device(), 1)
        self.assertEqual(torch_stand_in.current_device(), 0)
        external = torch_stand_in.ExternalStream(urgent.stand_in_stream, 1)
        self.assertEqual(external.stand_in_stream, urgent.stand_in_stream)
        with torch_stand_in.stream(external):
            there = torch.ones(3, device="stand_in:1")
        external.synchronize()
        self.assertEqual(there.tolist(), [1, 1, 1])

    def test_backward_runs_on_the_stream_of_forward(self) -> None:
        seen = []

        class Spy(torch.autograd.Function):
            @staticmethod
            def forward(ctx: object, tensor: torch.Tensor) -> torch.Tensor:
                return tensor.clone()

            @staticmethod
            def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
                seen.append(torch_stand_in.current_stream().stream_id)
                return gradient

        stream = torch_stand_in.Stream()
        weight = torch.ones(SIZE, device="stand_in", requires_grad=True)
        with torch_stand_in.stream(stream):
            loss = Spy.apply(weight * 2).sum()
        loss.backward()
        self.assertEqual(seen, [stream.stream_id])


if __name__ == "__main__":
    absltest.main()
