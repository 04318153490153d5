"""Compares every operator that the installed torch has samples for, on CUDA against the CPU.

    TORCH_CUDA_DEVICES=fake python tests/stock/operators.py [--types float32,bfloat16] [--names PATTERN]

Takes the samples of torch.testing._internal (OpInfo), forward and, where the operator has a
derivative, backward. Prints a table by type and each operator whose numbers differ or that CUDA
refuses. The exit status is 1 where one of these is found.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import functools
import itertools
import json
import pathlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

TYPES = ("float32", "float64", "bfloat16", "float16", "complex64", "int64")
# Results that are random, or memory that nobody has written.
_UNDETERMINED = (
    "empty*",
    "new_empty*",
    "*dropout*",
    "bernoulli",
    "multinomial",
    "normal",
    "*rand*",
    "uniform",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "nn.functional.rrelu",
    "nn.functional.fractional_max_pool*",
    "nn.functional.scaled_dot_product_attention",
)
HALVES = ("bfloat16", "float16")
OUTCOMES = ("right", "wrong", "refused", "not on the CPU")
_FAILED = ("wrong", "refused")
# Arguments that a GPU wants on the host, too.
_ON_THE_HOST = {"tensor_split": torch.int64}

# What is compared, on a device; one of OUTCOMES, and the reason.
Run = Callable[[str], list[torch.Tensor]]
Outcome = tuple[str, str]


def samples(operator: Any, dtype: torch.dtype, gradient: bool, count: int) -> list[Any]:
    """The first samples of an operator on the CPU; none where it has none for the type."""
    torch.manual_seed(1)
    made: Iterator[Any] = operator.sample_inputs("cpu", dtype, requires_grad=gradient)
    return list(itertools.islice(made, count))


def there(value: Any, device: str, on_the_host: torch.dtype | None = None) -> Any:
    """A copy of arguments on a device, with leaves of their own.

    Args:
        value: arguments.
        device: where.
        on_the_host: type of the tensors that stay on the CPU.
    """

    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and leaf.dtype == on_the_host:
            return leaf.detach().clone()
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().clone().to(device).requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.device) or leaf == "cpu":
            return device
        return leaf

    return pytree.tree_map(one, value)


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in a result."""
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def run(operator: Any, sample: Any, gradient: bool, device: str) -> list[torch.Tensor]:
    """Results of one call, and its arguments' gradients."""
    torch.manual_seed(2)
    given = (
        there(sample.input, device),
        *there((sample.args, sample.kwargs), device, _ON_THE_HOST.get(operator.name)),
    )
    result = operator(given[0], *given[1], **given[2])
    found = tensors(result)
    if gradient:
        wanted = [leaf for leaf in tensors(given) if leaf.requires_grad]
        roots = [one for one in found if one.requires_grad]
        if roots and wanted:
            torch.manual_seed(3)
            seeds = [torch.rand_like(one.detach(), device="cpu").to(one.device) for one in roots]
            found += [
                one
                for one in torch.autograd.grad(roots, wanted, seeds, allow_unused=True)
                if one is not None
            ]
    return [one.detach() for one in found]


def compare(found: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor], half: bool) -> str:
    """What differs; empty where nothing does."""
    if len(found) != len(wanted):
        return f"{len(found)} tensors instead of {len(wanted)}"
    tolerance: dict[str, Any] = {"rtol": 0.05, "atol": 0.05} if half else {}
    for one, other in zip(found, wanted, strict=True):
        if other.device.type == "cpu" and one.device.type != "cuda":
            return f"a result on {one.device}"
        try:
            torch.testing.assert_close(
                one.cpu(), other.cpu(), equal_nan=True, check_dtype=not half, **tolerance
            )
        except (AssertionError, NotImplementedError, RuntimeError) as error:
            return str(error).splitlines()[0]
    return ""


def judge(run_on: Run, half: bool, undetermined: bool = False) -> Outcome:
    """Runs something on the CPU and on CUDA, and compares.

    Args:
        run_on: runs it on the device that it is given.
        half: the numbers have 16 bits.
        undetermined: the numbers are random, and only their shapes are compared.

    Returns:
        One of OUTCOMES, and the reason.
    """
    try:
        wanted = run_on("cpu")
    except Exception as error:  # noqa: BLE001 -- the CPU does not have it
        return "not on the CPU", _said(error)
    try:
        found = run_on("cuda")
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001 -- whatever is said is the result
        return "refused", _said(error)
    difference = compare(found, wanted, half)
    if undetermined and [one.shape for one in found] == [one.shape for one in wanted]:
        return "right", ""
    return ("wrong", difference) if difference else ("right", "")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


class Tally:
    """Counts outcomes, a row for each kind of what is compared, and prints each that fails.

    Args:
        columns: headings of what a row is of, and of how many it counts.
    """

    def __init__(self, *columns: str) -> None:
        self._columns = columns
        self._rows: dict[tuple[str, ...], collections.Counter[str]] = {}

    def add(self, row: tuple[str, ...], name: str, outcome: Outcome) -> None:
        """Counts one outcome.

        Args:
            row: what it counts for; the type is the last.
            name: of what was compared.
            outcome: from `judge`.
        """
        self._rows.setdefault(row, collections.Counter())[outcome[0]] += 1
        if outcome[0] in _FAILED:
            print(f"{row[-1]:10} {outcome[0]:8} {name}: {outcome[1][:160]}", flush=True)

    def report(self) -> int:
        """Prints the table; returns how many failed."""
        print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}")
        heads = (*self._columns, *OUTCOMES)
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        for row, counts in self._rows.items():
            cells = (*row, counts.total(), *(counts[one] for one in OUTCOMES))
            print(f"| {' | '.join(map(str, cells))} |")
        return sum(counts[one] for counts in self._rows.values() for one in _FAILED)


def check(operator: Any, name: str, dtype_name: str, count: int) -> Outcome:
    """One operator in one type: the outcome of its first sample that fails, else whether any is right."""
    dtype = getattr(torch, dtype_name)
    gradient = bool(operator.supports_autograd) and dtype in operator.supported_backward_dtypes(
        "cpu"
    )
    try:
        chosen = samples(operator, dtype, gradient, count)
    except Exception as error:  # noqa: BLE001 -- the CPU does not have it
        return "not on the CPU", _said(error)
    if not chosen:
        return "not on the CPU", "no samples"
    undetermined = any(fnmatch.fnmatch(name, pattern) for pattern in _UNDETERMINED)
    outcomes = []
    for sample in chosen:
        outcomes.append(
            judge(
                functools.partial(run, operator, sample, gradient),
                dtype_name in HALVES,
                undetermined,
            )
        )
        if outcomes[-1][0] in _FAILED:
            return outcomes[-1]
    return next((one for one in outcomes if one[0] == "right"), outcomes[0])


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--names", default="*", help="a pattern of operators' names")
    parser.add_argument("--samples", type=int, help="of each operator; 16 in float32, else 1")
    parser.add_argument("--json", type=pathlib.Path, help="where each result is written to")
    arguments = parser.parse_args(command_line)
    warnings.simplefilter("ignore")
    results: dict[str, dict[str, Outcome]] = {}
    tally = Tally("type", "operators")
    for dtype_name in arguments.types.split(","):
        dtype = getattr(torch, dtype_name)
        # Some operators take other ways for later samples.
        count = arguments.samples or (16 if dtype_name == "float32" else 1)
        for operator in op_db:
            name = operator.name + (
                f".{operator.variant_test_name}" if operator.variant_test_name else ""
            )
            if fnmatch.fnmatch(name, arguments.names) and dtype in operator.supported_dtypes("cpu"):
                outcome = check(operator, name, dtype_name, count)
                results.setdefault(dtype_name, {})[name] = outcome
                tally.add((dtype_name,), name, outcome)
    failed = tally.report()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
