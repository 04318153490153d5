"""Compares every module, optimizer and foreach function that the installed torch has samples for, on CUDA and the CPU.

    TORCH_CUDA_DEVICES=fake python tests/stock/modules.py [--types float32,bfloat16] [--names PATTERN]

The samples are those of torch.testing._internal (ModuleInfo, OptimizerInfo, ForeachFuncInfo). Modules run in training and
in evaluation, forward and backward, and compare their buffers, too. Optimizers take three steps in each of their
implementations. Prints each entry whose numbers differ or that CUDA refuses. The exit status is 1 where there is one.
"""

from __future__ import annotations

import argparse
import copy
import fnmatch
import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import operators  # type: ignore[import-not-found]  # beside this file
import torch
from torch.testing._internal.common_methods_invocations import (
    foreach_binary_op_db,
    foreach_other_op_db,
    foreach_pointwise_op_db,
    foreach_reduce_op_db,
    foreach_unary_op_db,
)
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db

TYPES = ("float32", "float64", "bfloat16")
_STEPS = 3

# What is compared, and how it runs on a device.
Case = tuple[str, Callable[..., list[torch.Tensor]]]


def _gradients(leaves: Sequence[torch.Tensor], found: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    roots = [one for one in found if one.requires_grad]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not (roots and wanted):
        return []
    torch.manual_seed(3)
    seeds = [torch.rand_like(one.detach(), device="cpu").to(one.device) for one in roots]
    gradients = torch.autograd.grad(roots, wanted, seeds, allow_unused=True)
    return [one for one in gradients if one is not None]


def _run_module(
    info: Any, sample: Any, training: bool, dtype: torch.dtype, device: str
) -> list[torch.Tensor]:
    torch.manual_seed(2)
    made = sample.constructor_input
    module = info.module_cls(*made.args, **made.kwargs).to(dtype).train(training).to(device)
    given = sample.forward_input
    args, kwargs = operators.there((given.args, given.kwargs), device)
    # The parameters are drawn on the CPU, what is random in training on the device.
    torch.manual_seed(4)
    found = operators.tensors(module(*args, **kwargs))
    found += _gradients([*operators.tensors((args, kwargs)), *module.parameters()], found)
    return [one.detach() for one in [*found, *module.buffers()]]


def module_cases(dtype: torch.dtype) -> Iterator[Case]:
    """Modules, with the parameters that the CPU's have."""
    for info in module_db:
        if dtype not in info.supported_dtypes("cpu"):
            continue
        for training in (True, False):
            torch.manual_seed(1)
            samples = info.module_inputs_func(info, "cpu", dtype, True, training)
            for number, sample in enumerate(samples):
                if sample.forward_input is not None:
                    name = f"{info.name} {sample.desc or number}{' training' if training else ''}"
                    yield name, functools.partial(_run_module, info, sample, training, dtype)


def _implementations(info: Any, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """How an optimizer can be told to compute."""
    yield {}
    if "foreach" in info.supported_impls and "foreach" not in given:
        yield {"foreach": True}
    if "cuda" in info.supports_fused_on and "fused" not in given:
        yield {"fused": True}
    if info.has_capturable_arg and "capturable" not in given and not given.get("differentiable"):
        yield {"capturable": True}


def _run_optimizer(
    info: Any, given: dict[str, Any], dtype: torch.dtype, device: str, wide: bool = False
) -> list[torch.Tensor]:
    torch.manual_seed(2)
    sizes = ((3, 4), (5,), (2, 2, 3))
    drawn = [torch.randn(size, dtype=dtype) for size in sizes]
    params = [one.to(device, torch.float64 if wide else None).requires_grad_() for one in drawn]
    # The CPU takes the steps by its own loop: the implementation is what is tried.
    own = ("capturable", "foreach", "fused") if device == "cpu" else ()
    kwargs = {
        key: value.to(device) if isinstance(value, torch.Tensor) else value
        for key, value in copy.deepcopy(given).items()
        if key not in own
    }
    optimizer = info.optim_cls(params, **kwargs)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.stack([((p - 0.3) ** 2 * (i + 1)).sum() for i, p in enumerate(params)]).sum()
        loss.backward()
        return loss

    for _ in range(_STEPS):
        if info.step_requires_closure:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    # With `capturable` steps are counted in single precision, and so are their corrections.
    single = given.get("capturable") and dtype == torch.float64
    return [p.detach().float() if single else p.detach() for p in params]


def optimizer_cases(dtype: torch.dtype) -> Iterator[Case]:
    """Optimizers in each of their implementations."""
    infos: list[Any] = list(optim_db)
    for info in infos:
        if info.only_supports_sparse_grads:
            continue
        for number, sample in enumerate(info.optim_inputs_func(device="cuda")):
            for how in _implementations(info, sample.kwargs):
                name = f"{info.optim_cls.__name__} {number} {sample.desc} {how or ''}"
                yield (
                    name,
                    functools.partial(_run_optimizer, info, {**sample.kwargs, **how}, dtype),
                )


def _error(found: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]) -> float:
    pairs = zip(found, exact, strict=True)
    return max((one.cpu().double() - other).abs().max().item() for one, other in pairs)


def _compare(
    run_exactly: Callable[[], list[torch.Tensor]] | None,
    half: bool,
    found: list[torch.Tensor],
    wanted: list[torch.Tensor],
) -> str:
    """What differs. Where the exact numbers are known, CUDA's may be further from the CPU's if they are as exact."""
    difference: str = operators.compare(found, wanted, half)
    if difference and run_exactly is not None:
        exact = run_exactly()
        if _error(found, exact) <= _error(wanted, exact):
            return ""
    return difference


def _run_foreach(function: Any, sample: Any, device: str) -> list[torch.Tensor]:
    tensors, args, kwargs = operators.there((sample.input, sample.args, sample.kwargs), device)
    kwargs.pop("disable_fastpath", None)
    found = function(tensors, *args, **kwargs)
    changed: list[torch.Tensor] = operators.tensors((found, tensors))
    return changed


def foreach_cases(dtype: torch.dtype) -> Iterator[Case]:
    """Functions of lists of tensors, and those that change them."""
    for info in (
        *foreach_unary_op_db,
        *foreach_binary_op_db,
        *foreach_pointwise_op_db,
        *foreach_reduce_op_db,
        *foreach_other_op_db,
    ):
        torch.manual_seed(1)
        try:
            samples = list(info.sample_inputs("cpu", dtype, requires_grad=False))
        except (RuntimeError, TypeError, ValueError, AttributeError):
            continue  # of a type that the function has no samples for
        for number, sample in enumerate(samples):
            for suffix, function in (("", info.op), ("_", info.inplace_variant)):
                if function is not None:
                    name = f"{info.name}{suffix} {number}"
                    yield name, functools.partial(_run_foreach, function, sample)


_LISTS: dict[str, Callable[[torch.dtype], Iterator[Case]]] = {
    "modules": module_cases,
    "optimizers": optimizer_cases,
    "foreach": foreach_cases,
}


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--lists", default=",".join(_LISTS))
    parser.add_argument("--names", default="*", help="a pattern of entries' names")
    arguments = parser.parse_args(command_line)
    warnings.simplefilter("ignore")
    tally = operators.Tally("list", "type", "cases")
    for chosen in arguments.lists.split(","):
        for dtype_name in arguments.types.split(","):
            for name, run in _LISTS[chosen](getattr(torch, dtype_name)):
                if fnmatch.fnmatch(name, arguments.names):
                    half = dtype_name in operators.HALVES
                    # Steps of an optimizer that goes away from the minimum enlarge what is rounded.
                    wide = half and chosen == "optimizers"
                    exactly = functools.partial(run, "cpu", wide=True) if wide else None
                    outcome = operators.judge(run, functools.partial(_compare, exactly, half))
                    tally.add((chosen, dtype_name), name, outcome)
    return 1 if tally.report() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
