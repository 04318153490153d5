"""What kernels write to is watched, not believed: what no operator's schema says arrives on the device, too."""

from __future__ import annotations

import ctypes
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest
from torch.testing._internal.common_modules import module_db
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from router.operators.tests.exhaustive import ways

_LARGEST = 1 << 16  # bytes of a storage that is watched


def _contents(tensor: torch.Tensor) -> bytes | None:
    """What is in a tensor's storage; None where it has none, or a large one."""
    if tensor.layout != torch.strided or type(tensor) is not torch.Tensor:
        return None
    storage = tensor.untyped_storage()
    if not 0 < storage.nbytes() <= _LARGEST:
        return None
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())  # bytes() asks for each by itself


class _Watch(TorchDispatchMode):
    """Keeps the calls of operators that write to more than their schema says.

    Attributes:
      calls: by operator and argument, one call's operator and arguments, as these were before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[tuple[str, str], tuple[Any, Any, Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        given: list[tuple[str, torch.Tensor, bytes]] = []
        told = set()
        for i, argument in enumerate(func._schema.arguments):
            value = args[i] if i < len(args) else (kwargs or {}).get(argument.name)
            writes = argument.alias_info is not None and argument.alias_info.is_write
            for tensor in ways.tensors(value):
                before = _contents(tensor)
                if writes and before is not None:
                    told.add(tensor.untyped_storage().data_ptr())
                elif before is not None:
                    given.append((argument.name, tensor, before))
        kept = pytree.tree_map(
            lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf,
            (args, kwargs or {}),
        )
        result = func(*args, **(kwargs or {}))
        for name, tensor, before in given:
            if tensor.untyped_storage().data_ptr() not in told and _contents(tensor) != before:
                self.calls.setdefault((str(func), name), (func, *kept))
        return result


def _watched(programs: list[Callable[[], object]]) -> dict[tuple[str, str], tuple[Any, Any, Any]]:
    watch = _Watch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs:
            try:
                with watch:
                    program()
            except Exception:  # noqa: BLE001, S112 - a sample that the CPU does not take
                continue
    return watch.calls


def _of_operators() -> list[Callable[[], object]]:
    found: list[Callable[[], object]] = []
    for operator in ways.operators():
        for dtype in (torch.float32, torch.complex64):
            for sample in ways.samples(operator, dtype, 1):
                for way in ("forward", "backward"):

                    def program(
                        operator: Any = operator, sample: Any = sample, way: str = way
                    ) -> Any:
                        go, gradients = ways.WAYS[way]
                        return go(operator, ways.arguments_on("cpu", sample, gradients=gradients))

                    found.append(program)
    return found


def _of_modules() -> list[Callable[[], object]]:
    found: list[Callable[[], object]] = []
    for info, trains in itertools.product(module_db, (True, False)):

        def program(info: Any = info, trains: bool = trains) -> None:
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=trains
            )
            for given in itertools.islice(inputs, 2):
                made, called = given.constructor_input, given.forward_input
                module = info.module_cls(*made.args, **made.kwargs).train(trains)
                results = ways.tensors(module(*called.args, **called.kwargs))
                torch.stack([t.sum() for t in results if t.requires_grad]).sum().backward()

        found.append(program)
    return found


class WatchedWritesTest(absltest.TestCase):
    def test_what_no_schema_says_arrives_too(self) -> None:
        calls = _watched(_of_operators() + _of_modules())
        self.assertIn(("aten.native_batch_norm.default", "running_mean"), calls)
        for (name, argument), (func, args, kwargs) in calls.items():
            with self.subTest(f"{name} writes to {argument}"):
                on_device = pytree.tree_map(
                    lambda leaf: leaf.cuda() if isinstance(leaf, torch.Tensor) else leaf,
                    (args, kwargs),
                )
                func(*args, **kwargs)
                func(*on_device[0], **on_device[1])
                for mine, host in zip(
                    ways.tensors(on_device), ways.tensors((args, kwargs)), strict=True
                ):
                    torch.testing.assert_close(mine.cpu(), host)


if __name__ == "__main__":
    absltest.main()
