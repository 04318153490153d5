"""Operators that are not one kernel of the CPU, by every way into an operator: the CPU's answer each time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional as F

_Call = Callable[..., Any]
_func: Any = torch.func
_attention: Any = F.scaled_dot_product_attention
_ctc_loss: Any = F.ctc_loss


def _gates(count: int) -> tuple[tuple[int, ...], ...]:
    return ((2, 3), (2, 4), (count * 4, 3), (count * 4, 4))


# The operator, and the sizes of its arguments.
_OPERATORS: dict[str, tuple[_Call, tuple[tuple[int, ...], ...]]] = {
    "lstm_cell": (
        lambda x, h, w, u, b: torch.lstm_cell(x, [h, h], w, u, b, b),
        (*_gates(4), (16,)),
    ),
    "gru_cell": (lambda x, h, w, u, b: torch.gru_cell(x, h, w, u, b, b), (*_gates(3), (12,))),
    "rnn_tanh_cell": (torch.rnn_tanh_cell, _gates(1)),
    "attention": (lambda q, k, v: _attention(q, k, v), ((1, 2, 3, 4),) * 3),
    "causal attention": (lambda q, k, v: _attention(q, k, v, is_causal=True), ((1, 2, 3, 4),) * 3),
    "dropout": (lambda x: F.dropout(x, 0.5), ((4, 5),)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), ((4, 3),)),
    "layer_norm": (lambda x: F.layer_norm(x, (5,)), ((4, 5),)),
    "convolution": (lambda x, w: F.conv2d(x, w), ((1, 2, 4, 4), (3, 2, 2, 2))),
    "softmax": (lambda x: F.softmax(x, 1, dtype=torch.float32), ((3, 4),)),
    "copy": (lambda x, y: torch.empty_like(x).copy_(y[:, ::2]), ((3, 2), (3, 4))),
    "fill": (lambda x: torch.full_like(x, 2), ((3,),)),
    "nanmean": (lambda x: x.nanmean(0), ((3, 4),)),
    "conj_physical": (lambda x: torch.conj_physical(torch.complex(x, x)).imag, ((3,),)),
    "foreach": (lambda x, y: torch._foreach_add([x, y], 1.0), ((3,), (4,))),
    "fourier": (lambda x: torch.fft.fft(x).abs(), ((8,),)),
    "index": (lambda x: x[x > 0].sum(), ((4, 5),)),
    "ctc_loss": (
        lambda x: _ctc_loss(x.log_softmax(2), torch.tensor([[1, 2]]), [5], [2]),
        ((5, 1, 4),),
    ),
}


def _eager(call: _Call, arguments: list[torch.Tensor]) -> Any:
    return call(*arguments)


def _gradients(call: _Call, arguments: list[torch.Tensor]) -> Any:
    given = [argument.requires_grad_() for argument in arguments]
    outputs = [t for t in torch.utils._pytree.tree_leaves(call(*given)) if t.requires_grad]
    if not outputs:
        return []
    total = torch.stack([output.square().sum() for output in outputs]).sum()
    first = torch.autograd.grad(total, given, create_graph=True, allow_unused=True)
    used = [gradient for gradient in first if gradient is not None]
    squares = [gradient.square().sum() for gradient in used if gradient.requires_grad]
    if not squares:
        return used
    second = torch.autograd.grad(torch.stack(squares).sum(), given, allow_unused=True)
    return used, [gradient for gradient in second if gradient is not None]


def _traced(call: _Call, arguments: list[torch.Tensor]) -> Any:
    others = tuple(argument.flip(-1) for argument in arguments)
    traced: Any = torch.jit.trace(call, others, check_trace=False)
    torch.manual_seed(2)
    return traced(*arguments)


def _compiled(call: _Call, arguments: list[torch.Tensor]) -> Any:
    torch._dynamo.reset()
    return torch.compile(call, backend="aot_eager")(*arguments)


def _mapped(call: _Call, arguments: list[torch.Tensor]) -> Any:
    stacked = [torch.stack([argument, argument]) for argument in arguments]
    return _func.vmap(call, randomness="same")(*stacked)


def _forward_derivative(call: _Call, arguments: list[torch.Tensor]) -> Any:
    return _func.jvp(call, tuple(arguments), tuple(torch.ones_like(a) for a in arguments))


def _functional(call: _Call, arguments: list[torch.Tensor]) -> Any:
    return _func.functionalize(call)(*arguments)


def _inference(call: _Call, arguments: list[torch.Tensor]) -> Any:
    with torch.inference_mode():
        return call(*(argument.clone() for argument in arguments))


def _checkpointed(call: _Call, arguments: list[torch.Tensor]) -> Any:
    from torch.utils.checkpoint import checkpoint

    given = [argument.requires_grad_() for argument in arguments]
    result = checkpoint(call, *given, use_reentrant=False)
    outputs = [t for t in torch.utils._pytree.tree_leaves(result) if t.requires_grad]
    if not outputs:
        return result
    total = torch.stack([output.square().sum() for output in outputs]).sum()
    return torch.autograd.grad(total, given, allow_unused=True)


_WAYS: tuple[tuple[str, Callable[[_Call, list[torch.Tensor]], Any]], ...] = (
    ("eager", _eager),
    ("gradients", _gradients),
    ("traced", _traced),
    ("compiled", _compiled),
    ("mapped", _mapped),
    ("forward_derivative", _forward_derivative),
    ("functional", _functional),
    ("inference", _inference),
    ("checkpointed", _checkpointed),
)


class SpecialOperatorsTest(parameterized.TestCase):
    @parameterized.named_parameters(*_WAYS)
    def test_way(self, way: Callable[[_Call, list[torch.Tensor]], Any]) -> None:
        held = 0
        for name, (call, sizes) in _OPERATORS.items():
            found: dict[str, Any] = {}
            for device in ("cpu", "cuda"):
                generator = torch.Generator().manual_seed(1)
                given = [
                    torch.randn(size, generator=generator, dtype=torch.float64).to(device)
                    for size in sizes
                ]
                torch.manual_seed(2)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        found[device] = way(call, given)
                    except Exception as error:  # noqa: BLE001 - what the CPU raises is looked at below
                        found[device] = error
            with self.subTest(name):
                if isinstance(found["cpu"], Exception):
                    self.assertNotIn("INTERNAL ASSERT", str(found["cuda"]))
                    continue
                held += 1
                self.assertNotIsInstance(found["cuda"], Exception, repr(found["cuda"]))
                mine = torch.utils._pytree.tree_leaves(found["cuda"])
                host = torch.utils._pytree.tree_leaves(found["cpu"])
                self.assertEqual(len(mine), len(host))
                for one, other in zip(mine, host, strict=True):
                    if other is not None:
                        self.assertTrue(one.is_cuda)
                        torch.testing.assert_close(one.cpu(), other)
        self.assertGreater(held, len(_OPERATORS) - 5)


if __name__ == "__main__":
    absltest.main()
