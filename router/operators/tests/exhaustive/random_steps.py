"""The steps of random programs: what they do to tensors, on any device."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional as F

_FLOATS = (torch.float32, torch.float64)
_HALVES = (torch.float16, torch.bfloat16)
_TYPES = (*_FLOATS, *_FLOATS, *_HALVES, torch.int64, torch.bool, torch.complex64)

Run = Callable[[Sequence[torch.Tensor], str], Any]
# Its type allows no tensors that come in a list.
_attention: Any = F.scaled_dot_product_attention


@dataclasses.dataclass(frozen=True)
class Step:
    """Something to do with tensors of the pool.

    Attributes:
      text: for the report.
      operands: places in the pool.
      run: is called with the operands and the device's type, and gives a tensor, several or None.
    """

    text: str
    operands: tuple[int, ...]
    run: Run


class Writer:
    """Writes the steps of one program."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def new(self) -> Run:
        """A new tensor, with numbers that the host draws."""
        choose = self._random
        dtype = choose.choice(_TYPES)
        sizes = [
            choose.choice((1, 2, 3, 4, 4, 0) if i == 0 else (1, 2, 3, 4))
            for i in range(choose.randint(0, 3))
        ]
        seed = choose.randrange(1 << 30)
        leaf = dtype.is_floating_point and choose.random() < 0.5

        def make(_: Sequence[torch.Tensor], device: str) -> torch.Tensor:
            generator = torch.Generator().manual_seed(seed)
            numbers = torch.randn(sizes, generator=generator, dtype=torch.float64)
            if dtype.is_complex:
                numbers = torch.complex(numbers, numbers.flip(-1) if numbers.dim() else numbers)
            values = (numbers * 3).to(dtype) if dtype != torch.bool else numbers > 0
            return values.to(device, copy=True).requires_grad_(leaf)

        return make

    def step(self, pool: Sequence[torch.Tensor]) -> Step:
        """A step for the tensors that the CPU has by now."""
        choose = self._random
        kinds: list[tuple[int, Callable[[Sequence[torch.Tensor]], Step]]] = [
            (3, self._unary),
            (4, self._binary),
            (3, self._view),
            (3, self._in_place),
            (2, self._out),
            (2, self._reduction),
            (3, self._index),
            (2, self._drawn),
            (2, self._network),
            (1, self._autocast),
            (2, self._gradient),
            (1, self._product),
            (1, self._conversion),
        ]
        weights = [weight for weight, _ in kinds]
        makers = [maker for _, maker in kinds]
        make = choose.choices(makers, weights)[0]
        return make(pool)

    def _place(self, pool: Sequence[torch.Tensor]) -> int:
        return self._random.randrange(len(pool))

    def _unary(self, pool: Sequence[torch.Tensor]) -> Step:
        name = self._random.choice(
            ("neg", "abs", "sin", "sigmoid", "relu", "tanh", "square", "sgn", "clone", "logical_not", "isnan", "positive",
             "conj_physical", "contiguous", "erf", "floor", "frac", "nan_to_num", "expm1", "rsqrt", "log1p", "angle")
        )  # fmt: skip
        return Step(name, (self._place(pool),), lambda t, _: getattr(torch.Tensor, name)(t[0]))

    def _binary(self, pool: Sequence[torch.Tensor]) -> Step:
        name = self._random.choice(
            ("add", "sub", "mul", "div", "maximum", "eq", "lt", "logical_or", "atan2", "fmod", "pow", "remainder", "xlogy",
             "hypot", "copysign", "bitwise_and", "floor_divide")
        )  # fmt: skip
        places = (self._place(pool), self._place(pool))
        if self._random.random() < 0.2:
            number = self._random.choice((2, -1, 0.5, True))
            return Step(
                f"{name} {number}", places[:1], lambda t, _: getattr(torch, name)(t[0], number)
            )
        if name in ("add", "sub", "mul") and self._random.random() < 0.2:
            # A number on the host beside a tensor of the device.
            return Step(
                f"{name} number",
                places[:1],
                lambda t, _: getattr(torch, name)(t[0], torch.tensor(1.5)),
            )
        return Step(name, places, lambda t, _: getattr(torch, name)(t[0], t[1]))

    def _view_of(self, tensor: torch.Tensor) -> tuple[str, Callable[[torch.Tensor], torch.Tensor]]:
        choose = self._random
        dims = tensor.dim()
        views: list[tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = [
            ("unsqueeze", lambda t: t.unsqueeze(0)),
            ("view_as", lambda t: t.view_as(t)),
            ("detach", lambda t: t.detach()),
            ("expand", lambda t: t.expand(2, *t.shape)),
        ]
        if tensor.is_complex():
            views += [
                ("real", torch.real),
                ("imag", torch.imag),
                ("conj", torch.conj),
                ("view_as_real", torch.view_as_real),
            ]
        if dims > 0:
            dim = choose.randrange(dims)
            size = tensor.shape[dim]
            first, step = choose.randint(0, max(0, size - 1)), choose.randint(1, 2)
            cut = (slice(None),) * dim + (slice(first, None, step),)
            views += [
                (f"slice {cut}", lambda t: t[cut]),
                (f"slice {cut}", lambda t: t[cut]),
                ("transpose", lambda t: t.transpose(dim, -1)),
                ("flatten", lambda t: t.flatten()),
                ("squeeze", lambda t: t.squeeze(dim)),
                ("chunk", lambda t: t.chunk(2, dim)[-1]),
                ("unfold", lambda t: t.unfold(dim, 1, 1)),
            ]
            if size > 0:
                views.append((f"select {dim} {first}", lambda t: t.select(dim, first)))
        if dims > 1:
            views.append(("diagonal", lambda t: t.diagonal()))
            views.append(("reshape", lambda t: t.reshape(-1, t.shape[0] or 1)))
        return choose.choice(views)

    def _view(self, pool: Sequence[torch.Tensor]) -> Step:
        place = self._place(pool)
        text, view = self._view_of(pool[place])
        return Step(text, (place,), lambda t, _: view(t[0]))

    def _in_place(self, pool: Sequence[torch.Tensor]) -> Step:
        choose = self._random
        places = (self._place(pool), self._place(pool))
        without_gradient = choose.random() < 0.5
        of_view = choose.random() < 0.3
        _, view = self._view_of(pool[places[0]])
        changes: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
            "add_": lambda x, y: x.add_(y),
            "mul_ number": lambda x, _: x.mul_(2),
            "zero_": lambda x, _: x.zero_(),
            "fill_": lambda x, _: x.fill_(3),
            "copy_": lambda x, y: x.copy_(y),
            "clamp_": lambda x, _: x.clamp_(-1, 1),
            "relu_": lambda x, _: x.relu_(),
            "sub_ itself": lambda x, _: x.sub_(x),
            "logical_or_": lambda x, y: x.logical_or_(y),
            "addcmul_": lambda x, y: x.addcmul_(y, y),
            "lerp_": lambda x, y: x.lerp_(y, 0.5),
            "tril_": lambda x, _: x.tril_(),
            "t_": lambda x, _: x.t_(),
            "unsqueeze_": lambda x, _: x.unsqueeze_(0),
            "resize_as_": lambda x, _: x.resize_(x.shape),
            "set data": lambda x, y: setattr(x, "data", y.detach().clone()),
            "foreach": lambda x, y: torch._foreach_add_([x, y], 1),
            "addr_": lambda x, y: x.addr_(y, y),
        }
        name = choose.choice(list(changes))

        def change(tensors: Sequence[torch.Tensor], _: str) -> None:
            with torch.no_grad() if without_gradient else contextlib.nullcontext():
                target = view(tensors[0]) if of_view else tensors[0]
                changes[name](target, tensors[1])

        return Step(
            f"{name}{' of a view' if of_view else ''} no_grad={without_gradient}", places, change
        )

    def _out(self, pool: Sequence[torch.Tensor]) -> Step:
        places = (self._place(pool), self._place(pool), self._place(pool))
        calls: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Any]] = {
            "add out": lambda a, b, out: torch.add(a, b, out=out),
            "add out is an input": lambda a, b, _: torch.add(a, b, out=a),
            "mul out": lambda a, b, out: torch.mul(a, b, out=out),
            "cat out": lambda a, b, out: torch.cat([a, b], out=out),
            "sum out": lambda a, _, out: torch.sum(a, 0, out=out),
            "nanmean out": lambda a, _, out: torch.nanmean(a, 0, out=out),
            "matmul out": lambda a, b, out: torch.matmul(a, b, out=out),
            "sort out": lambda a, _, out: torch.sort(a, 0, out=(out, out.new_empty(0, dtype=torch.int64)))[0],
            "index_select out": lambda a, _, out: torch.index_select(a, 0, a.new_zeros(2, dtype=torch.int64), out=out),
            "where out": lambda a, b, out: torch.where(a > 0, a, b, out=out),
            "cumsum out": lambda a, _, out: torch.cumsum(a, 0, out=out),
        }  # fmt: skip
        name = self._random.choice(list(calls))

        def call(tensors: Sequence[torch.Tensor], _: str) -> None:
            # Whether a product may make one larger that requires a gradient differs by its way there.
            out = tensors[2].detach() if name == "matmul out" else tensors[2]
            with torch.no_grad():
                calls[name](tensors[0], tensors[1], out)

        return Step(name, places, call)

    def _reduction(self, pool: Sequence[torch.Tensor]) -> Step:
        choose = self._random
        place = self._place(pool)
        dim = choose.randrange(max(1, pool[place].dim()))
        keep = choose.random() < 0.5
        calls: dict[str, Callable[[torch.Tensor], Any]] = {
            "sum": lambda x: x.sum(dim, keepdim=keep),
            "mean": lambda x: x.mean(dim, keepdim=keep),
            "amax": lambda x: x.amax(dim, keepdim=keep),
            "prod": lambda x: x.prod(dim, keepdim=keep),
            "var": lambda x: x.var(dim, keepdim=keep),
            "norm": lambda x: torch.linalg.vector_norm(x, dim=dim, keepdim=keep),
            "any": lambda x: x.any(dim, keepdim=keep),
            "logsumexp": lambda x: x.logsumexp(dim, keepdim=keep),
            "softmax": lambda x: x.softmax(dim),
            "cumsum": lambda x: x.cumsum(dim),
            "cummax": lambda x: x.cummax(dim),
            "sort": lambda x: x.sort(dim=dim, stable=True),
            "nanmean": lambda x: x.nanmean(dim, keepdim=keep),
            "max": lambda x: x.max(dim, keepdim=keep),
            "std_mean": lambda x: torch.std_mean(x, dim, keepdim=keep),
            "flip": lambda x: x.flip(dim),
        }
        name = choose.choice(list(calls))
        return Step(f"{name} {dim} {keep}", (place,), lambda t, _: calls[name](t[0]))

    def _index(self, pool: Sequence[torch.Tensor]) -> Step:
        choose = self._random
        place, other = self._place(pool), self._place(pool)
        size = pool[place].shape[0] if pool[place].dim() else 1
        rows = sorted(choose.sample(range(size), min(size, 2)))
        on_host = choose.random() < 0.2
        without_gradient = choose.random() < 0.5

        def index(device: str) -> torch.Tensor:
            return torch.tensor(rows, dtype=torch.int64, device="cpu" if on_host else device)

        def change(call: Callable[[torch.Tensor, torch.Tensor, str], Any]) -> Run:
            def run(tensors: Sequence[torch.Tensor], device: str) -> Any:
                with torch.no_grad() if without_gradient else contextlib.nullcontext():
                    call(tensors[0], tensors[1], device)

            return run

        calls: dict[str, Run] = {
            "index": lambda t, d: t[0][index(d)],
            "mask": lambda t, _: t[0][t[0] > 0],
            "gather": lambda t, d: t[0].gather(0, torch.zeros(t[0].shape, dtype=torch.int64, device=d)),
            "take": lambda t, d: torch.take(t[0], torch.zeros(2, dtype=torch.int64, device=d)),
            "nonzero": lambda t, _: t[0].nonzero(),
            "index_put_": change(lambda x, y, d: x.index_put_((index(d),), y, accumulate=False)),
            "index_put_ number": change(lambda x, _, d: x.__setitem__(index(d), 1)),
            "index_put_ sum": change(
                lambda x, y, d: x.index_put_((torch.zeros(2, dtype=torch.int64, device=d),), y, accumulate=True)
            ),
            "index_add_": change(lambda x, y, d: x.index_add_(0, torch.zeros(len(y), dtype=torch.int64, device=d), y)),
            "index_fill_": change(lambda x, _, d: x.index_fill_(0, torch.tensor(rows, device=d), 2)),
            "masked_fill_": change(lambda x, y, _: x.masked_fill_(y > 0, 1)),
            "mask set": change(lambda x, _, __: x.__setitem__(x > 0, 0)),
            "scatter_": change(lambda x, y, d: x.scatter_(0, torch.zeros(y.shape, dtype=torch.int64, device=d), 1)),
            # One number of the host's is filled in, whatever else holds it.
            "slice set": change(lambda x, y, _: x.__setitem__(slice(None, None, 2), y.reshape(-1)[:1])),
            "masked_scatter_": change(lambda x, y, _: x.masked_scatter_(x > 0, y)),
            "where": lambda t, _: torch.where(t[0] > 0, t[0], t[1]),
        }  # fmt: skip
        name = choose.choice(list(calls))
        return Step(
            f"{name} {rows} host={on_host} no_grad={without_gradient}", (place, other), calls[name]
        )

    def _drawn(self, pool: Sequence[torch.Tensor]) -> Step:
        calls: dict[str, Callable[[torch.Tensor], Any]] = {
            "rand_like": lambda x: torch.rand_like(x),
            "randn_like": lambda x: torch.randn_like(x),
            "dropout": lambda x: F.dropout(x, 0.4),
            "dropout all": lambda x: F.dropout(x, 1.0),
            "dropout in place": lambda x: (
                F.dropout(x, 0.3, inplace=True) if not x.requires_grad else None
            ),
            "bernoulli": lambda x: torch.bernoulli(torch.full_like(x, 0.3)),
            "uniform_": lambda x: x.detach().clone().uniform_(),
            "random_": lambda x: x.detach().clone().random_(7),
            "randperm": lambda x: torch.randperm(7, device=x.device),
            "exponential_": lambda x: x.detach().clone().exponential_(),
            "feature dropout": lambda x: F.dropout1d(x, 0.5),
        }
        name = self._random.choice(list(calls))
        return Step(name, (self._place(pool),), lambda t, _: calls[name](t[0]))

    def _network(self, pool: Sequence[torch.Tensor]) -> Step:
        choose = self._random
        dtype, seed = choose.choice(_FLOATS), choose.randrange(1 << 30)
        trains = choose.random() < 0.7

        def given(shape: Sequence[int], device: str, offset: int = 0) -> torch.Tensor:
            generator = torch.Generator().manual_seed(seed + offset)
            return (
                torch.randn(shape, generator=generator, dtype=dtype)
                .to(device)
                .requires_grad_(trains)
            )

        def with_weights(module: torch.nn.Module, device: str) -> torch.nn.Module:
            with torch.no_grad():
                for i, parameter in enumerate(module.parameters()):
                    parameter.copy_(given(parameter.shape, "cpu", i) / 3)
            return module.to(device=device, dtype=dtype).train(trains)

        def module(make: Callable[[], torch.nn.Module], device: str) -> torch.nn.Module:
            with torch.random.fork_rng(devices=[]):  # its first weights are drawn on the host
                return with_weights(make(), device)

        def batch_norm(t: Sequence[torch.Tensor], device: str) -> Any:
            mean, variance = (
                torch.zeros(3, dtype=dtype, device=device),
                torch.ones(3, dtype=dtype, device=device),
            )
            x = given((4, 3), device) + t[0].detach().to(dtype).sum().nan_to_num().clamp(-3, 3)
            return F.batch_norm(x, mean, variance, training=trains), mean, variance

        calls: dict[str, Run] = {
            "lstm": lambda t, d: module(lambda: torch.nn.LSTM(3, 2, bidirectional=True), d)(given((4, 2, 3), d, 9))[0],
            "gru": lambda t, d: module(lambda: torch.nn.GRU(3, 2), d)(given((4, 2, 3), d, 9))[0],
            "lstm_cell": lambda t, d: module(lambda: torch.nn.LSTMCell(3, 2), d)(given((2, 3), d, 9))[0],
            "attention": lambda t, d: _attention(*(given((1, 2, 3, 4), d, i) for i in range(3)), is_causal=trains),
            "layer_norm": lambda t, d: F.layer_norm(given((3, 4), d), (4,)),
            "group_norm": lambda t, d: F.group_norm(given((2, 4, 3), d), 2),
            "batch_norm": batch_norm,
            "conv1d": lambda t, d: F.conv1d(given((2, 3, 4), d), given((2, 3, 2), d, 1)),
            "embedding": lambda t, d: F.embedding(torch.tensor([1, 0, 1], device=d), given((3, 2), d)),
            "cross_entropy": lambda t, d: F.cross_entropy(given((3, 4), d), torch.tensor([0, 3, 1], device=d)),
            "max_pool": lambda t, d: F.max_pool1d(given((1, 2, 4), d), 2),
            "mse": lambda t, d: F.mse_loss(given((3, 4), d), given((3, 4), d, 1)),
        }  # fmt: skip
        name = choose.choice(list(calls))
        return Step(f"{name} {dtype} {trains}", (self._place(pool),), calls[name])

    def _autocast(self, pool: Sequence[torch.Tensor]) -> Step:
        choose = self._random
        dtype, seed = choose.choice(_HALVES), choose.randrange(1 << 30)

        def given(shape: Sequence[int], device: str, offset: int) -> torch.Tensor:
            generator = torch.Generator().manual_seed(seed + offset)
            return torch.randn(shape, generator=generator).to(device)

        calls: dict[str, tuple[tuple[tuple[int, ...], ...], Callable[..., Any], bool]] = {
            "linear": (((3, 4), (2, 4)), F.linear, True),
            "bmm": (((2, 3, 4), (2, 4, 3)), torch.bmm, True),
            "conv1d": (((2, 3, 4), (2, 3, 2)), F.conv1d, True),
            "softmax": (((3, 4),), lambda x: x.softmax(-1), False),
            "exp": (((3, 4),), torch.exp, False),
        }
        name = choose.choice(list(calls))
        shapes, call, lower = calls[name]

        def run(_: Sequence[torch.Tensor], device: str) -> Any:
            given_ones = [given(shape, device, i) for i, shape in enumerate(shapes)]
            if device == "cuda":
                with torch.autocast("cuda", dtype):
                    return call(*(t if lower else t.to(dtype) for t in given_ones))
            halves = [t.to(dtype) for t in given_ones]
            return call(*(halves if lower else [t.float() for t in halves]))

        return Step(f"autocast {name} {dtype}", (self._place(pool),), run)

    def _gradient(self, pool: Sequence[torch.Tensor]) -> Step:
        choose = self._random
        places = (self._place(pool), self._place(pool))
        twice, through = choose.random() < 0.6, choose.random() < 0.3

        def run(tensors: Sequence[torch.Tensor], _: str) -> Any:
            x, y = tensors
            loss = (
                (y.abs() if y.is_complex() else y).pow(2).sum()
                if y.is_floating_point() or y.is_complex()
                else y
            )
            found = torch.autograd.grad(
                loss, [x], create_graph=twice, allow_unused=True, retain_graph=True
            )[0]
            if found is None or not twice:
                return found
            penalty = (found.abs() if found.is_complex() else found).sub(1).pow(2).sum()
            if through:
                return torch.autograd.grad(penalty, [x], allow_unused=True, retain_graph=True)[
                    0
                ], found
            return penalty

        return Step(f"gradient twice={twice} {through}", places, run)

    def _product(self, pool: Sequence[torch.Tensor]) -> Step:
        places = (self._place(pool), self._place(pool))
        calls: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
            "matmul": torch.matmul,
            "outer": lambda a, b: torch.outer(a.flatten(), b.flatten()),
            "dot": lambda a, b: torch.dot(a.flatten(), b.flatten()),
            "mT": lambda a, _: a.mT @ a,
            "mH": lambda a, _: a.mH @ a,
            "cat": lambda a, b: torch.cat([a, b, a]),
            "stack": lambda a, _: torch.stack([a, a]),
        }
        name = self._random.choice(list(calls))
        return Step(name, places, lambda t, _: calls[name](t[0], t[1]))

    def _conversion(self, pool: Sequence[torch.Tensor]) -> Step:
        dtype = self._random.choice(_TYPES)
        there_and_back = self._random.random() < 0.3
        return Step(
            f"to {dtype}",
            (self._place(pool),),
            lambda t, d: (
                t[0].cpu().clone(memory_format=torch.contiguous_format).to(d)
                if there_and_back
                else t[0]
            ).to(dtype),
        )
