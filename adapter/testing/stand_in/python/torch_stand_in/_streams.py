"""Streams and events."""

from __future__ import annotations

from typing import Any, Self, cast

import torch

from torch_stand_in._device import DeviceLike, _get_device_index, init
from torch_stand_in._native import functions as native


class Stream(torch.Stream):
    """A queue of work of a device.

    Args:
      device: whose; None for the current one.
      priority: lower numbers are more urgent.
      **kwargs: stream_id, device_index and device_type of a stream that is there.
    """

    def __new__(cls, device: DeviceLike = None, priority: int = 0, **kwargs: Any) -> Self:
        init()
        if "stream_id" in kwargs:
            return cast("Self", super().__new__(cls, **kwargs))
        index = _get_device_index(device)
        made = super().__new__(cls, device=torch.device("stand_in", index), priority=priority)
        return cast("Self", made)

    @property
    def stand_in_stream(self) -> int:
        """The runtime's handle, a standStream_t."""
        return int(native.stream_handle(self.stream_id, self.device_index))

    @property
    def _as_parameter_(self) -> Any:
        import ctypes

        return ctypes.c_void_p(self.stand_in_stream)

    @property
    def priority(self) -> int:
        """Its priority; lower numbers are more urgent."""
        return int(native.stream_priority(self.stream_id, self.device_index))

    @classmethod
    def priority_range(cls) -> tuple[int, int]:
        """The least and the most urgent priority."""
        return 0, -1

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        """Records an event, or one that is made for it, and gives it back."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: torch.Event) -> None:
        """What comes next in the stream waits for the event."""
        event.wait(self)

    def wait_stream(self, stream: torch.Stream) -> None:
        """What comes next waits for what another stream has been given so far."""
        self.wait_event(stream.record_event())

    def __repr__(self) -> str:
        return f"<torch.stand_in.Stream device={self.device} stand_in_stream={self.stand_in_stream:#x}>"


class ExternalStream(Stream):
    """A stream that somebody else has made, and destroys.

    Args:
      stream_ptr: the runtime's handle.
      device: whose stream it is.
    """

    def __new__(cls, stream_ptr: int, device: DeviceLike = None, **kwargs: Any) -> Self:
        init()
        packed = native.external_stream(stream_ptr, _get_device_index(device))
        return cast("Self", torch.Stream.__new__(cls, *packed))


class Event(torch.Event):
    """A mark in a stream.

    Args:
      enable_timing: whether times between events will be asked for.
      blocking: whether waiting leaves the processor to others: it always does.
      interprocess: has to be false.
    """

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Self:
        init()
        if interprocess:
            raise RuntimeError("The stand-in's events are for one process")
        made = super().__new__(
            cls, device=torch.device("stand_in"), enable_timing=enable_timing, blocking=blocking
        )
        return cast("Self", made)

    def record(self, stream: torch.Stream | None = None) -> None:
        """Marks what a stream, or the current one, has been given so far."""
        super().record(current_stream() if stream is None else stream)

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Milliseconds until another event.

        Args:
          end_event: recorded and done, as this one is. torch.Event of later versions takes no derived one.
        """
        return float(native.elapsed_time(self.event_id, end_event.event_id))

    def wait(self, stream: torch.Stream | None = None) -> None:
        """What comes next in a stream, or the current one, waits for the mark."""
        super().wait(current_stream() if stream is None else stream)


def _stream(packed: tuple[int, int, int]) -> Stream:
    stream_id, device_index, device_type = packed
    return Stream(stream_id=stream_id, device_index=device_index, device_type=device_type)


def current_stream(device: DeviceLike = None) -> Stream:
    """The stream that this thread's work on a device goes to."""
    return _stream(native.current_stream(_get_device_index(device)))


def default_stream(device: DeviceLike = None) -> Stream:
    """The stream that is a device's current one until another is."""
    return _stream(native.default_stream(_get_device_index(device)))


def set_stream(stream: torch.Stream | None) -> None:
    """Makes a stream the current one of its device, and its device the current one."""
    if stream is None:
        return
    init()
    native.set_device(stream.device_index)
    native.set_stream(stream.stream_id, stream.device_index)


class StreamContext:
    """A stream is the current one in its block, and its device the current one.

    Args:
      stream: which; None changes nothing.
    """

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self._before: tuple[Stream, ...] = ()

    def __enter__(self) -> None:
        if self.stream is None:
            return
        self._before = (current_stream(self.stream.device_index), current_stream())
        set_stream(self.stream)

    def __exit__(self, *_: object) -> None:
        for before in self._before:
            set_stream(before)


def stream(stream: torch.Stream | None) -> StreamContext:
    """A context in which a stream is the current one."""
    return StreamContext(stream)
