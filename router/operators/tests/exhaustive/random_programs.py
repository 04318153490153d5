"""Random programs of tensors, run step by step on the CPU and on a CUDA device, and held against each other.

A program is a seed. Its steps take tensors of a pool and put new ones into it: views, changes in place, `out=`,
indices, random numbers, streams, autocast, networks, gradients and gradients of gradients. After a step the device's
tensors are the CPU's, in numbers, types, sizes, strides, versions and in what requires a gradient. Where the CPU raises,
the device raises. A program ends where a GPU would refuse the type.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from router.operators.tests.exhaustive.random_steps import Step, Writer
from router.operators.tests.exhaustive.refusals import is_refused

_POOL = 10  # tensors
_LARGEST = 1e4  # what is beyond is no longer computed with
_ERRORS = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError)


class DifferenceError(AssertionError):
    """The device did something else than the CPU."""


def _tensors(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    return (
        [x for x in result if isinstance(x, torch.Tensor)]
        if isinstance(result, (tuple, list))
        else []
    )


class _Streams:
    """Puts steps on changing streams, each behind the last."""

    def __init__(self) -> None:
        self._streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        self._last = self._streams[0]

    @contextlib.contextmanager
    def next(self, number: int) -> Iterator[None]:
        stream = self._streams[number % len(self._streams)]
        stream.wait_stream(self._last)
        self._last = stream
        with torch.cuda.stream(stream):
            yield


def _attempt(step: Step, pool: Sequence[torch.Tensor], device: str) -> Any:
    """What a step gives, or the exception."""
    try:
        return step.run([pool[i] for i in step.operands], device)
    except _ERRORS as error:
        return error


_TOLERANCES = {
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.complex32: 1e-2,
}


def _compare(mine: torch.Tensor, host: torch.Tensor, what: str, *, strides: bool = True) -> None:
    """Raises for a difference, and takes over the CPU's last bits where only these differ."""
    geometry = [
        (t.dtype, t.shape, t.stride() if strides else (), t.requires_grad) for t in (mine, host)
    ]
    if geometry[0] != geometry[1]:
        raise DifferenceError(f"{what}: {geometry[0]} instead of {geometry[1]}")
    here = mine.detach().cpu()
    there = host.detach()
    if host.dtype == torch.complex32:
        here, there = here.to(torch.complex64), there.to(torch.complex64)
    if torch.equal(torch.nan_to_num(here), torch.nan_to_num(there)) and torch.equal(
        here.isnan(), there.isnan()
    ):
        return
    tolerance = _TOLERANCES.get(host.dtype, 1e-7)
    try:
        torch.testing.assert_close(here, there, rtol=tolerance, atol=tolerance, equal_nan=True)
    except AssertionError as error:
        raise DifferenceError(f"{what}: {error}") from None
    if not any(stride == 0 for stride in mine.stride()):
        mine.data.copy_(there)


def _is_tame(tensor: torch.Tensor) -> bool:
    """Whether to compute on with it: rounding grows with numbers."""
    values = tensor.detach().abs() if tensor.is_complex() else tensor.detach()
    return (
        tensor.numel() <= 4096
        and tensor.dim() <= 5
        and (tensor.numel() == 0 or bool((values.double().abs() < _LARGEST).all()))
    )


@dataclasses.dataclass(frozen=True)
class _Pair:
    """A tensor of a program on both sides.

    Attributes:
      mine: the device's.
      host: the CPU's.
      versions: of both, after the last step. How often a step changed a tensor is the kernel's business;
        whether it did is what autograd asks.
    """

    mine: torch.Tensor
    host: torch.Tensor
    versions: list[int]

    def check(self, what: str) -> None:
        """Raises DifferenceError where the two differ."""
        _compare(self.mine, self.host, what)
        now = [self.mine._version, self.host._version]
        changed = [version != before for version, before in zip(now, self.versions, strict=True)]
        if changed[0] != changed[1]:
            raise DifferenceError(
                f"{what}: changed for autograd: {changed[0]} instead of {changed[1]}"
            )
        self.versions[:] = now


def run(seed: int, steps: int = 20) -> int:
    """Runs a program on the CPU and on `cuda`.

    Args:
      seed: which program.
      steps: how long it is.

    Returns:
      How many of its steps the CPU could do.

    Raises:
      DifferenceError: the device did something else; says after which steps.
    """
    writer = Writer(seed)
    streams = _Streams()
    pool: list[_Pair] = []
    for _ in range(3):
        make = writer.new()
        pool.append(_pair(make([], "cuda"), make([], "cpu")))
    story: list[str] = []
    done = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(steps):
            step = writer.step([pair.host for pair in pool])
            story.append(f"{step.text} {step.operands}")
            where = f"program {seed}, {'; '.join(story)}"
            # As torch.manual_seed, which formats a stack for XPU at each call, too.
            torch.default_generator.manual_seed(seed + number)
            torch.cuda.manual_seed_all(seed + number)
            host = _attempt(step, [pair.host for pair in pool], "cpu")
            with streams.next(number):
                mine = _attempt(step, [pair.mine for pair in pool], "cuda")
                if isinstance(host, Exception):
                    if not isinstance(mine, Exception) and not _is_lack(host):
                        raise DifferenceError(f"{where}: no error instead of {host!r}")
                    # What a call that fails half-way leaves behind is not said.
                    if not _are_same(pool):
                        return done
                    continue
                if is_refused(mine):
                    return done
                if isinstance(mine, Exception):
                    raise DifferenceError(f"{where}: {mine!r}")
                done += 1
                for i, pair in enumerate(pool):
                    pair.check(f"{where}, tensor {i}")
                # A gradient is laid out as the formula's way by the device has it.
                strides = not step.text.startswith("gradient")
                pool += _results(mine, host, where, strides=strides)
            if not all(_is_tame(pair.host) for pair in pool):
                return done
            del pool[:-_POOL]
    return done


def _pair(mine: torch.Tensor, host: torch.Tensor) -> _Pair:
    return _Pair(mine, host, [mine._version, host._version])


def _results(mine: Any, host: Any, where: str, *, strides: bool) -> list[_Pair]:
    """What a step gave, of what to compute on with."""
    ours, theirs = _tensors(mine), _tensors(host)
    if len(ours) != len(theirs):
        raise DifferenceError(f"{where}: {len(ours)} tensors instead of {len(theirs)}")
    pairs = []
    for one, other in zip(ours, theirs, strict=True):
        if one.device.type != "cuda":
            raise DifferenceError(f"{where}: a result is on {one.device}")
        _compare(one, other, where, strides=strides)
        if _is_tame(other) and one.stride() == other.stride():
            pairs.append(_pair(one, other))
    return pairs


def _are_same(pool: Sequence[_Pair]) -> bool:
    try:
        for pair in pool:
            pair.check("")
    except DifferenceError:
        return False
    return True


def _is_lack(error: Exception) -> bool:
    """Whether the CPU lacks a kernel that CUDA has, of an operator or of one of its types."""
    text = str(error)
    return "not implemented for" in text or "nansum does not support complex" in text
