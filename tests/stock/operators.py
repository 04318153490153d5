"""Compares an operator that the installed torch has samples for, on CUDA against the CPU.

Takes the samples of torch.testing._internal (OpInfo), forward and, where the operator has a
derivative, backward. What the CPU has no kernel of is held against its definition, or against
double precision.
"""

from __future__ import annotations

import collections
import contextlib
import fnmatch
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

HALVES = ("bfloat16", "float16")
OUTCOMES = ("right", "wrong", "refused", "documented", "not on the CPU")
NO_NUMBER = "no number is compared"
_FAILED = ("wrong", "refused")
# Memory that nobody has written.
UNWRITTEN = ("empty*", "new_empty*")
# The CPU's numbers, by the same seed, unless a device has such operators of its own.
RANDOM = (
    *("*dropout*", "bernoulli", "multinomial", "normal", "*rand*", "uniform", "cauchy"),
    *("exponential", "geometric", "log_normal", "nn.functional.rrelu", "*fractional_max_pool*"),
)
# Of these some samples have neither a tensor nor a device, and so the default one.
_MADE = ("arange", "linspace*", "logspace*")
# Whose plain samples in float32 give one number only; others of OpInfo's have infinities, NaN and zeros.
_CONSTANT = ("logical_*", "is*", "ne", "bool", "round.decimals_neg_3")
# Arguments that a GPU wants on the host, too.
ON_THE_HOST = {"tensor_split": torch.int64}
_ATTENTION = "torch.ops.aten._*_attention_forward"
# In the place of assert_close's: the CPU's kernel adds in an order of its own; scores are up to 500, and the
# derivative takes the logarithm of their sum.
_TOLERANCES = {"nn.functional.scaled_dot_product_attention": 5e-5, _ATTENTION: 2e-3}
_HALF_TOLERANCES = {_ATTENTION: 0.2, "*": 0.05}
# What is said of a type that CUDA lacks, too.
_LACKED = "fails on a GPU, too"
# What else is refused by name (docs/stock.md), and what is said.
_REFUSED = {_ATTENTION: "dropout_p=0", "sparse.sampled_addmm": "but got (BFloat16|Half)"}
# The CPU computes places of images in half precision.
_COARSE_ON_THE_CPU = ("grid_sampler_*", "nn.functional.grid_sample")
# Kernels that are compiled when they are called: for the device, or for the host where that runs no code.
_COMPILED = "jiterator_*"

# What is compared, on a device; one of OUTCOMES, and the reason.
Run = Callable[[str], list[torch.Tensor]]
Outcome = tuple[str, str]


def name_of(operator: Any) -> str:
    """The name of an operator, and of its variant."""
    variant = operator.variant_test_name
    return f"{operator.name}.{variant}" if variant else str(operator.name)


def entries(dtype: torch.dtype) -> Iterator[tuple[str, Any]]:
    """Names and operators that the CPU or CUDA has in a type."""
    for operator in op_db:
        if dtype in operator.supported_dtypes("cpu") | operator.supported_dtypes("cuda"):
            yield name_of(operator), operator


def samples(operator: Any, dtype: torch.dtype, gradient: bool, count: int | None) -> list[Any]:
    """The first samples of an operator on the CPU; none where it has none for the type.

    Args:
        operator: of OpInfo.
        dtype: type.
        gradient: for a derivative.
        count: how many; None for all.
    """
    constant = _is_one_of(name_of(operator), _CONSTANT)
    made = operator.reference_inputs if constant else operator.sample_inputs
    torch.manual_seed(1)
    return list(itertools.islice(made("cpu", dtype, requires_grad=gradient), count))


def copied(leaf: torch.Tensor, device: str) -> torch.Tensor:
    """A copy of a tensor on a device, in a copy of its whole storage."""
    if leaf.layout != torch.strided or leaf.is_conj() or leaf.is_neg():
        return leaf.detach().clone().to(device)
    whole = torch.empty(0, dtype=torch.uint8, device=leaf.device).set_(leaf.untyped_storage())
    storage = whole.to(device, copy=True).untyped_storage()
    copy = torch.empty(0, dtype=leaf.dtype, device=device)
    return copy.set_(storage, leaf.storage_offset(), leaf.shape, leaf.stride())


def there(value: Any, device: str, on_the_host: torch.dtype | None = None) -> Any:
    """A copy of arguments on a device, with leaves of their own.

    Args:
        value: arguments.
        device: where.
        on_the_host: type of the tensors that stay on the CPU.
    """

    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            where = "cpu" if leaf.dtype == on_the_host else device
            return copied(leaf, where).requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.device) or leaf == "cpu":
            return device
        return leaf

    return pytree.tree_map(one, value)


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in a result."""
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def seed_of(result: torch.Tensor) -> torch.Tensor:
    """Random numbers, the same in each type, for the derivative by a result."""

    def numbers(like: torch.Tensor) -> torch.Tensor:
        # Of so few digits that half precision has them, too.
        drawn = torch.randint(1, 257, like.shape).double() / 256
        return drawn.to(like.device, like.dtype)

    result = result.detach()
    if result.layout == torch.sparse_csr:
        return torch.sparse_csr_tensor(
            result.crow_indices(), result.col_indices(), numbers(result.values()), result.shape
        )
    return numbers(result)


def run(
    call: Callable[..., Any],
    sample: Any,
    gradient: bool,
    device: str,
    host: torch.dtype | None = None,
) -> list[torch.Tensor]:
    """Results of one call, and the gradients of its arguments.

    Args:
        call: an operator, or its definition.
        sample: of OpInfo.
        gradient: whether there is one.
        device: where.
        host: type of the tensors that stay on the CPU.
    """
    torch.manual_seed(2)
    first = there(sample.input, device)
    args, kwargs = there((sample.args, sample.kwargs), device, host)
    result = call(first, *args, **kwargs)
    found = [
        leaf if isinstance(leaf, torch.Tensor) else torch.tensor(leaf, device=device)
        for leaf in pytree.tree_leaves(result)
        if isinstance(leaf, torch.Tensor | bool | int | float | complex)
    ]
    if gradient:
        # Of eigenvectors, say, what does not depend on their phases.
        roots = [one for one in tensors(sample.output_process_fn_grad(result)) if one.requires_grad]
        wanted = [leaf for leaf in tensors((first, args, kwargs)) if leaf.requires_grad]
        if roots and wanted:
            torch.manual_seed(3)
            found += torch.autograd.grad(
                roots,
                wanted,
                [seed_of(one) for one in roots],
                allow_unused=True,
                materialize_grads=True,
            )
    return [one.detach() for one in found]


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    cu_seqlens_q: torch.Tensor | None = None,
    cu_seqlens_k: torch.Tensor | None = None,
    **given: Any,
) -> torch.Tensor:
    """Fused attention without dropout by its definition, of [batch, length, heads, size].

    Takes what `_efficient_attention_forward` and `_flash_attention_forward` take.
    """
    if cu_seqlens_q is not None and cu_seqlens_k is not None:
        parts = [itertools.pairwise(ends.tolist()) for ends in (cu_seqlens_q, cu_seqlens_k)]
        return torch.cat(
            [
                attention(query[:, i:j], key[:, k:l], value[:, k:l], **given)
                for (i, j), (k, l) in zip(*parts, strict=True)
            ],
            1,
        )
    lengths = query.shape[1], key.shape[1]
    scale = given["scale"] or 1 / math.sqrt(query.shape[-1])
    scores = torch.einsum("bqhd,bkhd->bhqk", query, key) * scale
    if given.get("bias") is not None:
        scores = scores + given["bias"]
    # A triangle that begins above on the left, or ends below on the right.
    to_the_right = given.get("custom_mask_type") == 2 or given.get("is_causal")
    if given.get("custom_mask_type") == 1 or to_the_right:
        seen = torch.ones(lengths, dtype=torch.bool)
        seen = seen.tril(lengths[1] - lengths[0] if to_the_right else 0)
        scores = scores.masked_fill(~seen, -math.inf)
    return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), value)


def by_numpy(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays as one of tensors on the CPU."""

    def call(*args: torch.Tensor) -> Any:
        found = reference(*(one.numpy() for one in args))
        return pytree.tree_map(lambda one: torch.from_numpy(np.asarray(one)), found)

    return call


def definition_of(operator: Any, name: str) -> Callable[..., Any] | None:
    """What computes on the CPU what only CUDA has a kernel of; None where the CPU has one, too."""
    if fnmatch.fnmatch(name, _ATTENTION):
        return attention
    return by_numpy(operator.ref) if fnmatch.fnmatch(name, _COMPILED) else None


def widened(sample: Any) -> Any:
    """A sample in double precision."""

    def wide(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not (
            leaf.is_floating_point() or leaf.is_complex()
        ):
            return leaf
        to = torch.complex128 if leaf.is_complex() else torch.float64
        return leaf.detach().to(to).requires_grad_(leaf.requires_grad)

    return sample.transform(wide)


def wanted_of(
    operator: Any, name: str, sample: Any, gradient: bool, dtype: torch.dtype
) -> list[torch.Tensor]:
    """What the CPU gives, or else the definition or the CPU in double precision."""
    definition = definition_of(operator, name)
    host = ON_THE_HOST.get(operator.name)
    half = dtype in (torch.bfloat16, torch.float16)
    if definition is None and not (half and _is_one_of(name, _COARSE_ON_THE_CPU)):
        try:
            return run(operator, sample, gradient, "cpu", host)
        except RuntimeError:
            if not half:
                raise
    found = run(definition or operator, widened(sample), gradient, "cpu", host)
    if half:
        return found
    return [
        one.to(dtype.to_complex() if one.is_complex() else dtype)
        if one.dtype in (torch.float64, torch.complex128)
        else one
        for one in found
    ]


def compare(
    found: Sequence[torch.Tensor],
    wanted: Sequence[torch.Tensor],
    half: bool,
    tolerance: float | None = None,
) -> str:
    """What differs; empty where nothing does.

    Args:
        found: results on CUDA.
        wanted: what they have to be.
        half: the numbers have 16 bits.
        tolerance: None for the usual one.
    """
    if len(found) != len(wanted):
        return f"{len(found)} tensors instead of {len(wanted)}"
    if tolerance is None and half:
        tolerance = _HALF_TOLERANCES["*"]
    for one, other in zip(found, wanted, strict=True):
        if one.device.type != "cuda":
            return f"a result on {one.device}"
        try:
            torch.testing.assert_close(
                one.cpu(),
                other.cpu(),
                equal_nan=True,
                check_dtype=not half,
                rtol=tolerance,
                atol=tolerance,
            )
        except (AssertionError, NotImplementedError, RuntimeError) as error:
            return str(error).splitlines()[0]
    return ""


def unlike(
    found: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor], strides: bool = True
) -> str:
    """What differs of tensors besides their numbers; empty where nothing does.

    Args:
        found: results on CUDA.
        wanted: what they have to be like.
        strides: compare these, too.
    """

    if any(one.device.type != "cuda" for one in found):
        return "a result on another device"
    mine, its = (
        [(one.dtype, one.shape, one.stride() if strides else ()) for one in result]
        for result in (found, wanted)
    )
    return "" if mine == its else f"{mine} instead of {its}"


def judge(run_on: Run, differ: Callable[[list[torch.Tensor], list[torch.Tensor]], str]) -> Outcome:
    """Runs something on the CPU and on CUDA, and compares.

    Args:
        run_on: runs it on the device that it is given.
        differ: says what differs between CUDA's results and the CPU's; `compare`, or `unlike`.

    Returns:
        One of OUTCOMES, and the reason; what is right without any number, because of NO_NUMBER.
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
    difference = differ(found, wanted)
    if difference:
        return "wrong", difference
    return "right", "" if any(one.numel() for one in wanted) else NO_NUMBER


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


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _of(table: Mapping[str, Any], name: str) -> Any:
    return next((value for key, value in table.items() if fnmatch.fnmatch(name, key)), None)


def documented(name: str, reason: str) -> bool:
    """Whether docs/stock.md tells of a refusal.

    Args:
        name: of an operator.
        reason: what was said.
    """
    said = _of(_REFUSED, name)
    return _LACKED in reason or bool(said and re.search(said, reason))


def _differ(name: str, half: bool, seeded: bool) -> Callable[..., str]:
    if _is_one_of(name, UNWRITTEN):
        return unlike
    if not seeded and _is_one_of(name, RANDOM):
        return functools.partial(unlike, strides=False)
    tolerance = _of(_HALF_TOLERANCES if half else _TOLERANCES, name)
    return functools.partial(compare, half=half, tolerance=tolerance)


def check(
    operator: Any, name: str, dtype_name: str, count: int | None, seeded: bool = True
) -> Outcome:
    """One operator in one type: the outcome of its first sample that fails, else the least of all samples.

    Args:
        operator: of OpInfo.
        name: its own and its variant's.
        dtype_name: name of the type.
        count: how many samples that have numbers; None for all.
        seeded: a seed gives the CPU's random numbers.
    """
    dtype = getattr(torch, dtype_name)
    gradient = bool(operator.supports_autograd) and dtype in (
        operator.supported_backward_dtypes("cpu") | operator.supported_backward_dtypes("cuda")
    )
    try:
        chosen = samples(operator, dtype, gradient, None)
    except Exception as error:  # noqa: BLE001 -- the CPU does not have it
        return "not on the CPU", _said(error)
    call = operator
    if fnmatch.fnmatch(name, _ATTENTION):
        # The others are for its derivative.
        call = functools.partial(_first_of, operator)

    def run_on(sample: Any, device: str) -> list[torch.Tensor]:
        with torch.device(device) if _is_one_of(name, _MADE) else contextlib.nullcontext():
            if device == "cpu":
                return wanted_of(operator, name, sample, gradient, dtype)
            return run(call, sample, gradient, device, ON_THE_HOST.get(operator.name))

    differ = _differ(name, dtype_name in HALVES, seeded)
    outcomes: list[Outcome] = []
    for sample in chosen:
        outcome = judge(functools.partial(run_on, sample), differ)
        if outcome[0] == "refused" and documented(name, outcome[1]):
            outcome = ("documented", outcome[1])
        if outcome[0] in _FAILED:
            return outcome
        if outcome[1] != NO_NUMBER:
            outcomes.append(outcome)
        if len(outcomes) == count:
            break
    # What was tried worst comes last in OUTCOMES.
    return max(
        outcomes, key=lambda one: OUTCOMES.index(one[0]), default=("not on the CPU", NO_NUMBER)
    )


def _first_of(operator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return operator(*args, **kwargs)[0]
