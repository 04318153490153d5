"""Random programs of allocations, streams, events, copies and operators, through torch.cuda, beside numpy's model.

Each step is given to torch and, at once, to plain arrays. Before a step, what it depends on is ordered in front of it
with streams' waits and events, as a program has to; which of the ways is taken is random. So the device, which works
late and beside itself, has to come to what the model has.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

_MOST_BYTES = 700
_MOST_BUFFERS = 10
_MOST_STREAMS = 5
_DEVICES = 2


@dataclass(frozen=True)
class Access:
    """A use of a buffer: it is over once the event is reached."""

    stream: torch.cuda.Stream
    event: torch.cuda.Event


@dataclass
class Buffer:
    """Bytes on a device, or pinned ones of the host, and what they have to be.

    Attributes:
        tensor: of bytes.
        model: what is in it once all work is done.
        home: the stream that it was allocated for; None: it is the host's.
        writes: the last one, and what was not ordered before it.
        reads: since then.
    """

    tensor: torch.Tensor
    model: npt.NDArray[np.uint8]
    home: torch.cuda.Stream | None = None
    writes: list[Access] = field(default_factory=list)
    reads: list[Access] = field(default_factory=list)


class Program:
    """One program; its seed says which.

    Attributes:
        buffers: those that there are.
    """

    def __init__(self, seed: int) -> None:
        """Begins with a stream and a buffer."""
        self._random = random.Random(seed)
        self._devices = min(_DEVICES, torch.cuda.device_count())
        self._streams = [torch.cuda.current_stream(n) for n in range(self._devices)]
        self.buffers: list[Buffer] = []
        self._lines: list[str] = []
        self._new_buffer()

    def run(self) -> None:
        """Does all steps, and compares.

        Raises:
            AssertionError: a buffer has other bytes than the model; the message has the steps.
        """
        steps: tuple[Callable[[], None], ...] = (
            self._new_stream,
            self._new_buffer,
            self._new_buffer,
            self._new_host_buffer,
            self._drop,
            self._copy,
            self._copy,
            self._copy,
            self._copy,
            self._fill,
            self._fill,
            self._add,
            self._add,
            self._combine,
            self._combine,
            self._check_one,
            self._give_back,
        )
        for _ in range(self._random.randint(5, 40)):
            self._random.choice(steps)()
        for buffer in self.buffers:
            self.check(buffer)

    def _say(self, line: str) -> None:
        self._lines.append(line)

    # Steps.

    def _new_stream(self) -> None:
        if len(self._streams) < _MOST_STREAMS:
            device = self._random.randrange(self._devices)
            priority = self._random.choice((0, -1))
            self._say(f"stream {len(self._streams)}: device {device}, priority {priority}")
            self._streams.append(torch.cuda.Stream(device, priority=priority))

    def _new_buffer(self) -> None:
        if len(self.buffers) >= _MOST_BUFFERS:
            return
        stream, size, value = self._a_stream(), self._a_size(), self._a_value()
        with torch.cuda.stream(stream):
            tensor = torch.full((size,), value, dtype=torch.uint8, device=stream.device)
        buffer = Buffer(tensor, np.full(size, value, np.uint8), stream)
        self._wrote(buffer, stream)
        self.buffers.append(buffer)
        self._say(f"{self._name(buffer)}: {size} bytes of {value} by {self._name_of(stream)}")

    def _new_host_buffer(self) -> None:
        if len(self.buffers) >= _MOST_BUFFERS:
            return
        size = self._a_size()
        model = np.frombuffer(self._random.randbytes(size), np.uint8).copy()
        tensor = torch.empty(size, dtype=torch.uint8, pin_memory=True)
        tensor.numpy()[:] = model
        self.buffers.append(Buffer(tensor, model))
        self._say(f"{self._name(self.buffers[-1])}: {size} bytes of the host")

    def _drop(self) -> None:
        if len(self.buffers) > 1:
            buffer = self._random.choice(self.buffers)
            self._say(f"{self._name(buffer)} is dropped")
            self.buffers = [each for each in self.buffers if each is not buffer]

    def _copy(self) -> None:
        source, target = self._random.choice(self.buffers), self._random.choice(self.buffers)
        if source is target:
            return
        size = min(len(source.model), len(target.model))
        size = self._random.randint(1, size)
        begin = self._random.randint(0, len(source.model) - size)
        to = self._random.randint(0, len(target.model) - size)
        target.model[to : to + size] = source.model[begin : begin + size]
        there, here = target.tensor[to : to + size], source.tensor[begin : begin + size]
        what = f"{self._name(target)}[{to}:] = {self._name(source)}[{begin}:], {size} bytes"
        if source.home is None and target.home is None:
            self._say(f"{what}, by the host")
            self._order(source.writes, None)
            self._order(target.writes + target.reads, None)
            target.writes, target.reads = [], []
            there.copy_(here)
            return
        # torch works in the source's stream where both are devices.
        home = source if source.home is not None else target
        stream = self._a_stream(home.tensor.device)
        self._say(f"{what}, by {self._name_of(stream)}")
        self._order(source.writes, stream)
        self._order(target.writes + target.reads, stream)
        with torch.cuda.stream(stream):
            there.copy_(here, non_blocking=True)
        self._read(source, stream)
        self._wrote(target, stream)

    def _fill(self) -> None:
        def fill(buffer: Buffer, begin: int, end: int) -> None:
            value = self._a_value()
            buffer.model[begin:end] = value
            buffer.tensor[begin:end].fill_(value)

        self._change("fill", fill)

    def _add(self) -> None:
        def add(buffer: Buffer, begin: int, end: int) -> None:
            value = self._a_value()
            buffer.model[begin:end] += np.uint8(value)
            buffer.tensor[begin:end].add_(value)

        self._change("add", add)

    def _change(self, what: str, work: Callable[[Buffer, int, int], None]) -> None:
        """Lets an operator change a part of a buffer."""
        buffer = self._a_device_buffer()
        if buffer is None:
            return
        begin = self._random.randrange(len(buffer.model))
        end = self._random.randint(begin + 1, len(buffer.model))
        stream = self._a_stream(buffer.tensor.device)
        self._say(f"{what} {self._name(buffer)}[{begin}:{end}] by {self._name_of(stream)}")
        self._order(buffer.writes + buffer.reads, stream)
        with torch.cuda.stream(stream):
            work(buffer, begin, end)
        self._wrote(buffer, stream)

    def _combine(self) -> None:
        """One buffer becomes what an operator makes of it and another."""
        one = self._a_device_buffer()
        if one is None:
            return
        others = [b for b in self.buffers if b.tensor.device == one.tensor.device and b is not one]
        if not others:
            return
        other = self._random.choice(others)
        size = min(len(one.model), len(other.model))
        stream = self._a_stream(one.tensor.device)
        self._say(
            f"{self._name(one)}[:{size}] ^= {self._name(other)}[:{size}] by {self._name_of(stream)}"
        )
        one.model[:size] ^= other.model[:size]
        self._order(other.writes, stream)
        self._order(one.writes + one.reads, stream)
        with torch.cuda.stream(stream):
            # With memory that goes back while the operator may still be at work.
            one.tensor[:size].copy_(one.tensor[:size] ^ other.tensor[:size])
        self._read(other, stream)
        self._wrote(one, stream)

    def _check_one(self) -> None:
        self.check(self._random.choice(self.buffers))

    def _give_back(self) -> None:
        if self._random.random() < 0.2:
            self._say("the cache is emptied")
            torch.cuda.empty_cache()

    def check(self, buffer: Buffer) -> None:
        """Waits for a buffer's bytes, and compares them.

        Raises:
            AssertionError: as `run`.
        """
        self._order(buffer.writes, None)
        if buffer.home is None:
            found = buffer.tensor.numpy()
        else:
            # A copy that is waited for, in a stream that has waited for nothing.
            with torch.cuda.stream(self._a_stream(buffer.tensor.device)):
                found = buffer.tensor.cpu().numpy()
        wrong = np.flatnonzero(found != buffer.model)
        if len(wrong):
            at = int(wrong[0])
            raise AssertionError(
                f"{self._name(buffer)}[{at}] is {found[at]}, should be {buffer.model[at]}; "
                f"{len(wrong)} of {len(found)} bytes differ after\n" + "\n".join(self._lines)
            )

    # Order.

    def _order(self, accesses: Iterable[Access], before: torch.cuda.Stream | None) -> None:
        """Orders accesses in front of a stream's next work, or of what the host does next."""
        for access in accesses:
            if access.stream == before:
                continue
            ways: list[Callable[[], object]] = [
                access.event.synchronize,
                access.stream.synchronize,
                functools.partial(torch.cuda.synchronize, access.stream.device),
            ]
            if before is not None:
                # More often, since they let the device go on beside the host.
                ways += 4 * [
                    functools.partial(before.wait_event, access.event),
                    functools.partial(before.wait_stream, access.stream),
                ]
            self._random.choice(ways)()

    def _read(self, buffer: Buffer, stream: torch.cuda.Stream) -> None:
        buffer.reads.append(self._used(buffer, stream))

    def _wrote(self, buffer: Buffer, stream: torch.cuda.Stream) -> None:
        # All others are in front of it.
        buffer.writes, buffer.reads = [self._used(buffer, stream)], []

    def _used(self, buffer: Buffer, stream: torch.cuda.Stream) -> Access:
        if buffer.home is not None and buffer.home != stream:
            buffer.tensor.record_stream(stream)
        return Access(stream, stream.record_event())

    # Choices.

    def _a_stream(self, device: torch.device | None = None) -> torch.cuda.Stream:
        fitting = [each for each in self._streams if device in (None, each.device)]
        return self._random.choice(fitting)

    def _a_device_buffer(self) -> Buffer | None:
        those = [each for each in self.buffers if each.home is not None]
        return self._random.choice(those) if those else None

    def _a_size(self) -> int:
        return self._random.randint(1, _MOST_BYTES)

    def _a_value(self) -> int:
        return self._random.randrange(256)

    def _name(self, buffer: Buffer) -> str:
        place = "host" if buffer.home is None else f"device {buffer.tensor.get_device()}"
        return f"{place} {buffer.tensor.data_ptr():#x}"

    def _name_of(self, stream: torch.cuda.Stream) -> str:
        return f"stream {self._streams.index(stream)}"
