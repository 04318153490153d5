"""The way from a call of a jiterator's function to the host's: whose tensors, which type, which operator."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from torch_cuda_runtime import _capabilities
from torch_cuda_runtime._jiterator import _functions, _graphs, _rules

if TYPE_CHECKING:
    from torch_cuda_runtime._jiterator._functions import Number

_MOST = 8  # of results and of inputs, PyTorch's limit
_INTEGERS = -(1 << 63), (1 << 63) - 1

# What a function is instantiated with for tensors of a type, and the type of its name in C++.
_COMPUTED = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
}
_NAMES = {
    torch.bool: "bool",
    torch.uint8: "unsigned char",
    torch.int8: "signed char",
    torch.int16: "short",
    torch.int32: "int",
    torch.int64: "long long",
    torch.float32: "float",
    torch.float64: "double",
    torch.complex64: "std::complex<float>",
    torch.complex128: "std::complex<double>",
}

_NAMESPACE = "torch_cuda_runtime"
_SCHEMA = (
    "jiterator(Tensor[] inputs, int[] size, int[] stride, str source, str name, bool by_reference, "
    "int outputs, Scalar[] numbers) -> Tensor[]"
)


def instead_of(upstream: Callable[..., Any]) -> Callable[..., Any]:
    """What torch.cuda.jiterator calls: it takes tensors of devices that run no code, and leaves others to PyTorch.

    Args:
        upstream: PyTorch's, which compiles with NVRTC and launches.
    """

    @functools.wraps(upstream)
    def compile_and_launch(
        source: str,
        name: str,
        by_reference: bool,
        outputs: int,
        tensors: tuple[torch.Tensor, ...],
        numbers: Mapping[str, Any] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        size = _size(tensors) if by_reference or outputs == 1 else None
        if size is None or not 1 <= outputs <= _MOST:
            # Another device's, or a mistake, of which PyTorch tells before it compiles.
            theirs: torch.Tensor | tuple[torch.Tensor, ...] = upstream(
                source, name, by_reference, outputs, tensors, numbers or {}
            )
            return theirs
        if any(map(torch._C._functorch.is_gradtrackingtensor, tensors)):
            raise RuntimeError(
                f"torch.cuda.jiterator: {name} got a tensor that torch.func differentiates by; needed another one: "
                "these functions have no derivative"
            )
        # As PyTorch's, it has no derivative, and makes plain tensors of all.
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            results = _call(source, name, bool(by_reference), outputs, tensors, size, numbers or {})
        return results[0] if outputs == 1 else tuple(results)

    _leave_to_the_interpreter(compile_and_launch)
    return compile_and_launch


def _leave_to_the_interpreter(function: Any) -> None:
    """Has torch.compile run a function, and what it calls, as they are: it does so with PyTorch's, which is no Python."""
    binding: Any = torch._C  # its type lacks what it has
    frames = binding._dynamo.eval_frame
    skip = frames._FrameAction.SKIP
    frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))


def _size(tensors: Any) -> tuple[int, ...] | None:
    """The size of the results of tensors of one device that runs no code; None for others."""
    if not isinstance(tensors, tuple) or not 1 <= len(tensors) <= _MOST:
        return None
    for tensor in tensors:
        if (
            not isinstance(tensor, torch.Tensor)
            or not tensor.is_cuda
            or tensor.layout != torch.strided
            or tensor.device != tensors[0].device
        ):
            return None
    if _capabilities.runs_code(tensors[0].device.index):
        return None
    try:
        return tuple(torch.broadcast_shapes(*(tensor.shape for tensor in tensors)))
    except RuntimeError:
        return None


def _call(
    source: str,
    name: str,
    by_reference: bool,
    outputs: int,
    tensors: Sequence[torch.Tensor],
    size: tuple[int, ...],
    given: Mapping[str, Any],
) -> list[torch.Tensor]:
    """Promotes tensors, compiles, and calls the operator; results on the tensors' device."""
    numbers = [_number(name, key, value) for key, value in given.items()]
    dtype = _rules.common_dtype(tensors)
    computed = _COMPUTED.get(dtype, dtype)
    if computed not in _NAMES:
        raise RuntimeError(
            f"torch.cuda.jiterator: {name} got tensors of {dtype}; needed one of "
            + ", ".join(str(one) for one in [*_NAMES, *_COMPUTED])
        )
    stride = _rules.strides(tensors, size)
    # A graph gets what is in memory, so that nothing may be left to do when it is read.
    inputs = [tensor.to(dtype).to(computed).resolve_conj().resolve_neg() for tensor in tensors]
    # Before the operator: a mistake in the source is told where the stream has not been waited for.
    function = (
        None if 0 in size else _compiled(inputs, source, name, by_reference, outputs, numbers)
    )
    arguments = (inputs, size, stride, source, name, by_reference, outputs, numbers)
    with torch.cuda.device(tensors[0].device):
        if function is not None and torch.cuda.is_current_stream_capturing():
            results = _results(*arguments)
            same = [_laid_out(tensor, results[0]) for tensor in inputs]
            _graphs.record(function, name, results, same, numbers)
        else:
            results = _operator()(*arguments)
    return [result.to(dtype) for result in results]


def _number(name: str, key: str, value: Any) -> Number:
    """A further argument, of the type that PyTorch gives it.

    Raises:
        OverflowError: it is an integer of more than 64 bits.
        TypeError: it is no number.
    """
    if isinstance(value, torch.Tensor):
        value = value.item()
    if isinstance(value, (bool, float, complex)):
        return value
    try:
        number = int(value.__index__()) if hasattr(value, "__index__") else float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"torch.cuda.jiterator: argument {key} of {name} is a {type(value).__name__}; needed a number"
        ) from error
    if isinstance(number, int) and not _INTEGERS[0] <= number <= _INTEGERS[1]:
        raise OverflowError(
            f"torch.cuda.jiterator: argument {key} of {name} is {number}; needed an integer of 64 bits"
        )
    return number


def _compiled(
    inputs: Sequence[torch.Tensor],
    source: str,
    name: str,
    by_reference: bool,
    outputs: int,
    numbers: Sequence[Number],
) -> _functions.Compiled:
    return _functions.compiled(
        _functions.Function(
            source,
            name,
            by_reference,
            _NAMES[inputs[0].dtype],
            len(inputs),
            outputs,
            tuple(map(_functions.type_of, numbers)),
        )
    )


def _operator() -> Any:
    """The operator, which the router serves on devices once it is asked for."""
    global _library, _defined
    with _defining:
        if _defined is None:
            _library = torch.library.Library(_NAMESPACE, "FRAGMENT")
            _library.define(_SCHEMA)
            _library.impl("jiterator", _compute, "CPU")
            _library.impl("jiterator", _results, "Meta")
            _defined = torch.ops.torch_cuda_runtime.jiterator.default
    return _defined


_library: Any = None
_defined: Any = None
_defining = threading.Lock()


def _results(
    inputs: Sequence[torch.Tensor],
    size: Sequence[int],
    stride: Sequence[int],
    source: str,
    name: str,
    by_reference: bool,
    outputs: int,
    numbers: Sequence[Number],
) -> list[torch.Tensor]:
    """The results with nothing in them: the kernel of tensors without memory, as torch.compile has them."""
    return [
        torch.empty_strided(size, stride, dtype=inputs[0].dtype, device=inputs[0].device)
        for _ in range(outputs)
    ]


def _compute(
    inputs: Sequence[torch.Tensor],
    size: Sequence[int],
    stride: Sequence[int],
    source: str,
    name: str,
    by_reference: bool,
    outputs: int,
    numbers: Sequence[Number],
) -> list[torch.Tensor]:
    """The CPU's kernel: all tensors are of one type, which the function is instantiated with."""
    results = _results(inputs, size, stride, source, name, by_reference, outputs, numbers)
    if results[0].numel() > 0:
        same = [_laid_out(tensor, results[0]) for tensor in inputs]
        function = _compiled(inputs, source, name, by_reference, outputs, numbers)
        call = function.call(
            [tensor.data_ptr() for tensor in (*results, *same)],
            [0 if tensor.numel() == 1 else 1 for tensor in same],
            numbers,
        )
        function(results[0].numel(), call)
    return results


def _laid_out(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A tensor with its elements in memory where another one has them, or with one for all."""
    if tensor.numel() == 1:
        return tensor
    expanded = tensor.expand(like.shape)
    return (
        expanded if expanded.stride() == like.stride() else torch.empty_like(like).copy_(expanded)
    )
