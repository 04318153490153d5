"""Values at the edges of types, on CUDA and on the CPU: infinities, NaN, zeros with signs, the largest integers, ties.

    python3 -m tools.gpu.edge_values [--start PROGRAM]

Prints one line for each program whose result on CUDA is not the CPU's: what differs, and an example. A device that the
CPU serves gives what the CPU gives. Rounding is not reported: numbers may differ by 2^-7 in half precision, by 2^-13 in
single and by 2^-30 in double precision. gcd and lcm are not among the programs: of the least integer they
end a process, on the CPU.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def _names(text: str) -> list[str]:
    return text.split()


FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
_TOLERANCE = {
    torch.float16: 2**-7,
    torch.bfloat16: 2**-6,
    torch.float32: 2**-13,
    torch.float64: 2**-30,
    torch.complex64: 2**-13,
    torch.complex128: 2**-30,
}
_EDGES = (
    [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3, 1e-3, 7.25, 31, 32, 63, 64, 100, -100, 1e4]
    + [
        2.0**31,
        -(2.0**31),
        2.0**32,
        2.0**63,
        -(2.0**63),
        3e38,
        1e-40,
        -1e-40,
        127.5,
        128,
        255.5,
        256,
    ]
    + [math.inf, -math.inf, math.nan]
)
_UNARY = _names(
    "abs acos acosh angle asin asinh atan atanh bitwise_not ceil cos cosh deg2rad digamma erf "
    "erfc erfinv exp exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf lgamma log "
    "log10 log1p log2 logical_not logit nan_to_num neg positive rad2deg reciprocal round "
    "rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc i0 special.entr "
    "special.erfcx special.i0e special.i1 special.i1e special.log_ndtr special.ndtr "
    "special.ndtri special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 "
    "special.modified_bessel_k0 special.scaled_modified_bessel_k1 special.airy_ai "
    "special.spherical_bessel_j0"
)
_ACTIVATIONS = _names(
    "relu relu6 elu selu celu gelu silu mish softplus softsign softshrink hardshrink "
    "tanhshrink hardtanh hardsigmoid hardswish leaky_relu logsigmoid threshold rrelu"
)
_BINARY = _names(
    "add sub mul div remainder fmod floor_divide true_divide pow float_power maximum minimum "
    "fmax fmin atan2 copysign hypot nextafter ldexp logaddexp logaddexp2 xlogy "
    "special.xlog1py special.zeta bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
    "bitwise_right_shift eq ne lt le gt ge logical_and logical_or logical_xor heaviside "
    "isclose igamma igammac"
)
_ALONG_ROWS = _names(
    "sum prod mean std var max min argmax argmin median nanmedian nansum nanmean any all amax "
    "amin mode logsumexp cumsum cumprod cummax cummin logcumsumexp sort argsort softmax "
    "log_softmax count_nonzero std_mean unique unique_consecutive"
)
_REDUCTIONS: dict[str, Callable[[Tensor], object]] = {
    name: getattr(torch, name)
    for name in _names(
        "sum prod mean std var max min argmax argmin median nanmedian nansum nanmean any all "
        "aminmax"
    )
}
_REDUCTIONS |= {
    f"{name}(dim)": functools.partial(getattr(torch, name), dim=-1) for name in _ALONG_ROWS
}
_REDUCTIONS |= {
    "topk": lambda x: x.topk(3),
    "kthvalue": lambda x: x.kthvalue(2, -1),
    "norm": lambda x: x.norm(dim=-1),
    "norm(inf)": lambda x: x.norm(math.inf, dim=-1),
    "norm(0)": lambda x: x.norm(0, dim=-1),
    "norm(-1)": lambda x: x.norm(-1, dim=-1),
    "renorm": lambda x: x.renorm(2, 0, 1.0),
    "histc": lambda x: x.histc(4, 0, 8),
    "diff": lambda x: x.diff(),
    "searchsorted": lambda x: torch.searchsorted(x.sort().values, x),
    "bucketize": lambda x: torch.bucketize(x, x.flatten()[:3].sort().values),
    "clamp": lambda x: x.clamp(-1, 1),
    "clamp(nan)": lambda x: x.clamp(min=math.nan),
    "where": lambda x: torch.where(x > 0, x, 0),
    "nonzero": lambda x: x.nonzero(),
    "isin": lambda x: torch.isin(x, x[..., :2]),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x, dim=-1),
    "max_pool1d": lambda x: F.max_pool1d(x[None], 2, return_indices=True),
    "avg_pool1d": lambda x: F.avg_pool1d(x[None], 2),
    "adaptive_max_pool1d": lambda x: F.adaptive_max_pool1d(x[None], 2, return_indices=True),
    "lp_pool1d": lambda x: F.lp_pool1d(x[None], 2, 2),
    "cdist": lambda x: torch.cdist(x, x),
    "pdist": lambda x: F.pdist(x),
    "matmul": lambda x: x @ x.mT,
    "cov": lambda x: x.cov(),
    "quantile": lambda x: x.quantile(0.3, dim=-1),
    "nanquantile": lambda x: x.nanquantile(0.3, dim=-1),
}


def _grid_sample(x: Tensor, y: Tensor, **settings: Any) -> Tensor:
    """Samples an image at the points of two tensors. Points far outside end a process, on the CPU."""
    near = (x.abs() < 2**20) & (y.abs() < 2**20)
    points = torch.stack([torch.where(near, x, 0), torch.where(near, y, 0)], -1)[None, None]
    image = torch.arange(16.0, device=x.device, dtype=x.dtype).view(1, 1, 4, 4)
    return F.grid_sample(image, points, **settings)


_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    name: functools.partial(getattr(F, name), reduction="none")
    for name in _names(
        "l1_loss mse_loss smooth_l1_loss huber_loss kl_div soft_margin_loss poisson_nll_loss"
    )
}
_LOSSES |= {
    "binary_cross_entropy_with_logits": lambda x, y: F.binary_cross_entropy_with_logits(
        x, y, reduction="none"
    ),
    "gaussian_nll_loss": lambda x, y: F.gaussian_nll_loss(x, y, y.abs() + 1, reduction="none"),
    "grid_sample": functools.partial(_grid_sample, align_corners=False),
    "grid_sample(border)": functools.partial(
        _grid_sample, padding_mode="border", align_corners=True
    ),
    "grid_sample(reflection, nearest)": functools.partial(
        _grid_sample, mode="nearest", padding_mode="reflection", align_corners=False
    ),
}


def edges(dtype: torch.dtype) -> Tensor:
    """The numbers of a type that are likely to be treated differently."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_complex:
        parts = [0.0, -0.0, 1.0, -2.5, 1e20, math.inf, -math.inf, math.nan]
        return torch.tensor([complex(a, b) for a in parts for b in parts], dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor(_EDGES, dtype=torch.float64).to(dtype)
    info = torch.iinfo(dtype)
    values = {
        info.min,
        info.min + 1,
        info.max,
        info.max - 1,
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        9,
        15,
        16,
        31,
        32,
        33,
        63,
        64,
    }
    values |= {-value for value in (1, 2, 3, 7, 8, 31, 64)} if info.min < 0 else set()
    return torch.tensor(sorted(value for value in values if value <= info.max), dtype=dtype)


def _grid(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    values = edges(dtype)
    x, y = values.repeat(len(values)), values.repeat_interleave(len(values))
    if dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
        return x, y
    # The remainder of these two ends a process, too.
    possible = ~((x == torch.iinfo(dtype).min) & (y == -1))
    return x[possible], y[possible]


def _function(name: str) -> Callable[..., object]:
    value: object = torch
    for part in name.split("."):
        value = getattr(value, part)
    return value  # type: ignore[return-value]


def _rows(dtype: torch.dtype) -> tuple[Tensor]:
    """Rows with ties, NaN, infinities, equal numbers and numbers that overflow."""
    values = edges(dtype)
    big = values.max() if not dtype.is_floating_point else torch.tensor(3e4)
    tame = torch.tensor([3, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 0]).to(dtype)
    rows = [
        tame,
        tame * 0,
        torch.full((12,), big.item()).to(dtype),
        values[torch.arange(12) % len(values)],
    ]
    if dtype.is_floating_point:
        for special in (math.nan, math.inf, -math.inf):
            row = tame.clone()
            row[5] = special
            rows += [row, torch.full((12,), special, dtype=dtype)]
        mixed = tame.clone()
        mixed[2], mixed[7], mixed[9] = math.inf, -math.inf, math.nan
        rows += [mixed, -tame * 0]
    return (torch.stack(rows),)


Program = Callable[[str], object]
Arguments = Callable[[], tuple[Tensor, ...]]


def _program(function: Callable[..., object], arguments: Arguments) -> Program:
    return lambda device: function(*(tensor.to(device) for tensor in arguments()))


def programs() -> Iterator[tuple[str, Program]]:
    """Each program's name, and the program: it gets the device."""
    for name, function, arguments in _calls():
        yield name, _program(function, arguments)


def _calls() -> Iterator[tuple[str, Callable[..., object], Arguments]]:
    every = (*FLOATS, *INTEGERS, torch.bool, torch.complex64)
    values = {dtype: functools.partial(_one, dtype) for dtype in every}
    pairs = {dtype: functools.partial(_grid, dtype) for dtype in every}
    rows = {dtype: functools.partial(_rows, dtype) for dtype in (*FLOATS, *INTEGERS)}
    for name, dtype in itertools.product(_UNARY, every):
        yield f"{name}: {_short(dtype)}", _function(name), values[dtype]
    for name, dtype in itertools.product(_BINARY, every):
        yield f"{name}: {_short(dtype)}", _function(name), pairs[dtype]
    for rounding, dtype in itertools.product(("floor", "trunc"), every):
        division = functools.partial(torch.div, rounding_mode=rounding)
        yield f"div({rounding}): {_short(dtype)}", division, pairs[dtype]
    for source, target in itertools.permutations(every, 2):
        conversion = functools.partial(_converted, target)
        yield f"to {_short(target)}: {_short(source)}", conversion, values[source]
    for name, dtype in itertools.product(_ACTIVATIONS, FLOATS):
        settings = {"threshold": 0.5, "value": 1.0} if name == "threshold" else {}
        activation = functools.partial(getattr(F, name), **settings)
        yield f"{name}: {_short(dtype)}", _differentiated(activation), values[dtype]
    single = torch.float32
    for names, arguments in ((_UNARY, values[single]), (_BINARY, pairs[single])):
        for name in names:
            yield f"gradient of {name}: float32", _differentiated(_function(name)), arguments
    for (name, loss), dtype in itertools.product(_LOSSES.items(), FLOATS):
        yield f"{name}: {_short(dtype)}", _differentiated(loss), pairs[dtype]
    for (name, reduction), dtype in itertools.product(_REDUCTIONS.items(), rows):
        yield f"{name}: rows of {_short(dtype)}", reduction, rows[dtype]
        yield f"{name}: an empty {_short(dtype)}", reduction, functools.partial(_empty, dtype)
    for name, reduction in _REDUCTIONS.items():
        yield f"gradient of {name}: rows of float32", _differentiated(reduction), rows[single]


def _one(dtype: torch.dtype) -> tuple[Tensor]:
    return (edges(dtype),)


def _empty(dtype: torch.dtype) -> tuple[Tensor]:
    return (torch.empty(3, 0, dtype=dtype),)


def _converted(target: torch.dtype, tensor: Tensor) -> Tensor:
    return tensor.to(target)


def _differentiated(function: Callable[..., object]) -> Callable[..., object]:
    return functools.partial(_with_gradients, function)


def _with_gradients(function: Callable[..., object], *inputs: Tensor) -> list[object]:
    leaves = [x.detach().requires_grad_() for x in inputs]
    results = _tensors(function(*leaves))
    total = [result.sum() for result in results if result.requires_grad]
    grads = torch.autograd.grad(total, leaves, allow_unused=True) if total else ()
    return [*(result.detach() for result in results), *grads]


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _tensors(result: object) -> list[Tensor]:
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, tuple | list):
        return [tensor for part in result for tensor in _tensors(part)]
    return []


def run(program: Program, device: str) -> list[Tensor] | str:
    """A program's tensors on the CPU, or the name of what it raised."""
    try:
        return [tensor.cpu() for tensor in _tensors(program(device))]
    except Exception as error:  # noqa: BLE001 (any is compared)
        return type(error).__name__


def difference(expected: list[Tensor] | str, actual: list[Tensor] | str) -> str:
    """What differs between the CPU's results and CUDA's; an empty text where nothing does."""
    if isinstance(expected, str) or isinstance(actual, str):
        same = isinstance(expected, str) and isinstance(actual, str)
        return "" if same else f"CPU: {_told(expected)}, CUDA: {_told(actual)}"
    if len(expected) != len(actual):
        return f"{len(expected)} and {len(actual)} results"
    for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return (
                f"result {number}: {one.dtype} {list(one.shape)}, {other.dtype} {list(other.shape)}"
            )
        differs = _differs(one, other)
        if differs.any():
            at = int(differs.flatten().nonzero()[0])
            return (
                f"result {number}, {int(differs.sum())} of {one.numel()}, the first at {at}: "
                f"CPU {one.flatten()[at].item()}, CUDA {other.flatten()[at].item()}"
            )
    return ""


def _told(result: list[Tensor] | str) -> str:
    return result if isinstance(result, str) else "a result"


def _differs(one: Tensor, other: Tensor) -> Tensor:
    if one.dtype.is_complex:
        both = zip(
            torch.view_as_real(one).unbind(-1), torch.view_as_real(other).unbind(-1), strict=True
        )
        real, imaginary = (_differs(a, b) for a, b in both)
        return real | imaginary
    if not one.dtype.is_floating_point:
        return one != other
    tolerance = _TOLERANCE[one.dtype]
    a, b = one.double(), other.double()
    tiny = torch.finfo(one.dtype).tiny
    near = (a - b).abs() <= tolerance * a.abs() + tiny
    signs = (a == 0) & (b == 0) & (a.signbit() != b.signbit())
    return ~(near | (a == b) | (a.isnan() & b.isnan())) | signs


def main() -> int:
    """Prints what differs; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--start", default="", help="the first program to run, for example 'relu: float32'"
    )
    start = parser.parse_args().start
    warnings.simplefilter("ignore")
    count = 0
    differing = 0
    chosen = itertools.dropwhile(lambda one: start not in ("", one[0]), programs())
    for name, program in chosen:
        count += 1
        text = difference(run(program, "cpu"), run(program, "cuda"))
        if text:
            differing += 1
            print(f"{name}: {text}", flush=True)
    print(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}: {differing} of {count} programs differ"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
