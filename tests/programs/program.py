"""Runs one program in a process of its own: compares a device with the CPU, or lists the operators that it calls.

python -m tests.programs.program language.bert --record FILE
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.programs import harness

PACKAGE = "tests.programs.catalogue"


def load(name: str) -> ModuleType:
    """Imports a program.

    Args:
        name: such as `language.bert`.
    """
    return importlib.import_module(f"{PACKAGE}.{name}")


def _syntax(name: str) -> ast.Module:
    """A program that is not imported."""
    spec = importlib.util.find_spec(f"{PACKAGE}.{name}")
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no program {name}")
    return ast.parse(pathlib.Path(spec.origin).read_text(encoding="utf-8"))


def environment(name: str) -> dict[str, str]:
    """The variables that a program asks for, which have to be there before it imports anything.

    Args:
        name: such as `language.bert`.

    Returns:
        What its `ENVIRONMENT` says, where it has one: a dict of literals.
    """
    for node in _syntax(name).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ENVIRONMENT":
            variables: dict[str, str] = ast.literal_eval(node.value)
            return variables
    return {}


def packages(name: str) -> list[str]:
    """The packages that a program names in its imports, with their versions; torch, numpy and Python's own left out.

    Args:
        name: such as `language.bert`.
    """
    names: set[str] = set()
    for node in ast.walk(_syntax(name)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    tops -= {"numpy", "tests", "torch"}
    return [f"{top.replace('_', '-')} {importlib.metadata.version(top)}" for top in sorted(tops)]


def tolerances(program: ModuleType) -> dict[torch.dtype, harness.Tolerance]:
    """What a program is held to, by the types that it is run in."""
    every = {**harness.DEFAULT_TOLERANCES, **getattr(program, "TOLERANCES", {})}
    return {dtype: every[dtype] for dtype in getattr(program, "TYPES", every)}


def exceptions(program: ModuleType) -> list[str]:
    """Sentences on what a program is held to where that is not the usual."""
    return [
        f"{str(dtype).removeprefix('torch.')} is held to {tolerance.error:.0e}: {tolerance.because}"
        for dtype, tolerance in tolerances(program).items()
        if tolerance != harness.DEFAULT_TOLERANCES[dtype]
    ]


def error(found: Sequence[Tensor], expected: Sequence[Tensor]) -> float:
    """The largest difference, of the largest expected number.

    Args:
        found: tensors.
        expected: as many.

    Returns:
        0.0 where all are equal; infinity where a shape, a type or the place of a number that is not finite differs.
    """
    if len(found) != len(expected):
        return float("inf")
    largest, difference = 0.0, 0.0
    for one, other in zip(found, expected, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return float("inf")
        if not one.numel():
            continue
        wide = torch.complex128 if other.is_complex() else torch.float64
        first, second = one.to(wide), other.to(wide)
        finite = second.isfinite()
        others = first[~finite], second[~finite]
        if not torch.allclose(*others, rtol=0.0, atol=0.0, equal_nan=True):
            return float("inf")
        if not bool(first[finite].isfinite().all()):
            return float("inf")
        if bool(finite.any()):
            largest = max(largest, second[finite].abs().max().item())
            difference = max(difference, (first[finite] - second[finite]).abs().max().item())
    return difference / largest if largest else difference


def compare(program: ModuleType, device: torch.device) -> dict[str, dict[str, float]]:
    """Runs a program on the CPU and on a device, in each of its types.

    Args:
        program: a module of programs/.
        device: the device.

    Returns:
        Errors by the name of the type and of what was compared.
    """
    errors: dict[str, dict[str, float]] = {}
    for dtype in tolerances(program):
        expected = program.run(harness.Place(torch.device("cpu"), dtype))
        found = program.run(harness.Place(device, dtype))
        # Of numbers that are not finite there is nothing to see but that they are not.
        if not any(bool(t.isfinite().any()) for group in expected.values() for t in group):
            raise ValueError(f"{program.__name__} returned nothing to compare")
        if found.keys() != expected.keys():
            raise ValueError(f"on {device}: {sorted(found)}; on the CPU: {sorted(expected)}")
        errors[str(dtype).removeprefix("torch.")] = {
            name: error(found[name], expected[name]) for name in expected
        }
    return errors


def too_large(program: ModuleType, errors: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Sentences on the errors that are over what a program is held to."""
    return [
        f"{dtype}: {name} differ by {found:.1e}, allowed is {tolerance.error:.0e}"
        for key, tolerance in tolerances(program).items()
        for dtype in [str(key).removeprefix("torch.")]
        for name, found in errors[dtype].items()
        if not found <= tolerance.error
    ]


class Operators(TorchDispatchMode):
    """Notes which operators are called, as `aten::NAME.OVERLOAD`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        overload = func._overloadname
        name = str(func._schema.name)
        self.names.add(name if overload == "default" else f"{name}.{overload}")
        return func(*args, **(kwargs or {}))


def run(program: ModuleType, device: torch.device) -> None:
    """Runs a program in each of its types.

    Args:
        program: a module of programs/.
        device: where.
    """
    for dtype in tolerances(program):
        program.run(harness.Place(device, dtype))


def reason(failure: BaseException) -> str:
    """One line on an exception."""
    lines = [line for line in str(failure).splitlines() if line.strip()]
    return f"{type(failure).__name__}: {lines[0].strip() if lines else ''}"[:300]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a program and writes what became of it; returns 0 unless it could not be written."""
    parser = argparse.ArgumentParser(description="Run one program.")
    parser.add_argument("name", help="such as language.bert")
    parser.add_argument("--record", type=pathlib.Path, required=True, help="file for the outcome")
    parser.add_argument("--device", default="cuda:0", help="the device")
    parser.add_argument("--operators", action="store_true", help="list operators, compare nothing")
    options = parser.parse_args(argv)
    device = torch.device(options.device)
    outcome: dict[str, Any] = {"reasons": []}
    start = time.monotonic()
    try:
        outcome["packages"] = packages(options.name)
        os.environ.update(environment(options.name))
        program = load(options.name)
        outcome["exceptions"] = exceptions(program)
        if options.operators:
            with Operators() as mode:
                outcome["operators"] = mode.names
                run(program, device)
        else:
            outcome["errors"] = compare(program, device)
            outcome["reasons"] = too_large(program, outcome["errors"])
    except Exception as failure:  # noqa: BLE001 - of whatever kind, it is the outcome
        traceback.print_exc()
        outcome["reasons"] = [reason(failure)]
    outcome["seconds"] = time.monotonic() - start
    # Whole or not at all: the runner goes on from the records that there are.
    unfinished = options.record.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(outcome, indent=1, default=sorted), encoding="utf-8")
    unfinished.rename(options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
