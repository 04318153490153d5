"""Networks that PyTorch computes as a whole on the CPU: derivatives of all kinds are upstream's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

_Make = Callable[[], torch.nn.Module]
# Their types lack what they take and have.
_func: Any = torch.func
_attention: Any = F.scaled_dot_product_attention

_NETWORKS: tuple[tuple[str, _Make, tuple[int, ...]], ...] = (
    ("lstm", lambda: torch.nn.LSTM(3, 4), (5, 2, 3)),
    (
        "lstm_of_layers",
        lambda: torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True),
        (5, 2, 3),
    ),
    ("lstm_projected", lambda: torch.nn.LSTM(3, 4, proj_size=2), (5, 2, 3)),
    ("lstm_without_bias", lambda: torch.nn.LSTM(3, 4, bias=False), (5, 2, 3)),
    ("gru", lambda: torch.nn.GRU(3, 4), (5, 2, 3)),
    ("gru_without_bias", lambda: torch.nn.GRU(3, 4, bias=False), (5, 2, 3)),
    ("rnn", lambda: torch.nn.RNN(3, 4), (5, 2, 3)),
    ("rnn_relu", lambda: torch.nn.RNN(3, 4, nonlinearity="relu"), (5, 2, 3)),
    ("lstm_cell", lambda: torch.nn.LSTMCell(3, 4), (2, 3)),
    ("gru_cell", lambda: torch.nn.GRUCell(3, 4), (2, 3)),
    ("rnn_cell", lambda: torch.nn.RNNCell(3, 4), (2, 3)),
    ("attention", lambda: torch.nn.MultiheadAttention(4, 2), (3, 2, 4)),
    ("encoder", lambda: torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0), (3, 2, 4)),
)


def _on(device: str, make: _Make, dtype: torch.dtype = torch.float64) -> torch.nn.Module:
    torch.manual_seed(1)
    return make().to(device=device, dtype=dtype)


def _numbers(sizes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(2), dtype=dtype)


def _call(module: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    result: Any = module(x, x, x) if isinstance(module, torch.nn.MultiheadAttention) else module(x)
    output: torch.Tensor = result[0] if isinstance(result, tuple) else result
    return output


class NetworksTest(parameterized.TestCase):
    def assert_same(
        self, compute: Callable[[str], list[torch.Tensor | None]], device: str = "cuda"
    ) -> None:
        with sdpa_kernel(SDPBackend.MATH):  # the CPU's fused kernel has no second derivative
            wanted = compute("cpu")
        found = compute(device)
        self.assertEqual(len(found), len(wanted))
        for mine, host in zip(found, wanted, strict=True):
            assert mine is not None and host is not None
            torch.testing.assert_close(mine.cpu(), host)

    @parameterized.named_parameters(*_NETWORKS)
    def test_a_penalty_on_the_gradient(self, make: _Make, sizes: tuple[int, ...]) -> None:
        def compute(device: str) -> list[torch.Tensor | None]:
            module = _on(device, make)
            x = _numbers(sizes).to(device).requires_grad_()
            y = _call(module, x).square().sum()
            (gradient,) = torch.autograd.grad(y, x, create_graph=True)
            self.assertTrue(gradient.requires_grad)
            (y + (gradient.norm() - 1) ** 2).backward()
            return [x.grad, *(p.grad for p in module.parameters())]

        self.assert_same(compute)

    @parameterized.named_parameters(*_NETWORKS)
    def test_gradients_of_gradients_are_right(self, make: _Make, sizes: tuple[int, ...]) -> None:
        module = _on("cuda", make)
        x = _numbers(sizes).cuda().requires_grad_()
        torch.autograd.gradcheck(lambda t: _call(module, t), (x,))
        torch.autograd.gradgradcheck(lambda t: _call(module, t), (x,))

    @parameterized.named_parameters(*_NETWORKS)
    def test_functions_of_functions(self, make: _Make, sizes: tuple[int, ...]) -> None:
        def compute(device: str) -> list[torch.Tensor | None]:
            module = _on(device, make)
            parameters: dict[str, torch.Tensor] = dict(module.named_parameters())
            x = _numbers(sizes).to(device)

            class Called(torch.nn.Module):
                def __init__(self) -> None:
                    super().__init__()
                    self.module = module

                def forward(self, t: torch.Tensor) -> torch.Tensor:
                    return _call(self.module, t)

            def loss(weights: dict[str, torch.Tensor], t: torch.Tensor) -> torch.Tensor:
                named = {f"module.{name}": weight for name, weight in weights.items()}
                output: torch.Tensor = _func.functional_call(Called(), named, (t,))
                return output.square().sum()

            gradients = _func.grad(loss)(parameters, x)
            value, tangent = _func.jvp(lambda t: loss(parameters, t), (x,), (torch.ones_like(x),))
            return [value, tangent, *gradients.values()]

        self.assert_same(compute)

    @parameterized.named_parameters(*_NETWORKS)
    def test_a_change_before_the_backward_pass_is_an_error(
        self, make: _Make, sizes: tuple[int, ...]
    ) -> None:
        module = _on("cuda", make)
        y = _call(module, _numbers(sizes).cuda().requires_grad_()).square().sum()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.mul_(5)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()

    @parameterized.named_parameters(*_NETWORKS[:-1])
    def test_autocast(self, make: _Make, sizes: tuple[int, ...]) -> None:
        module = _on("cuda", make, torch.float32)
        host = _on("cpu", make, torch.float32)
        x = _numbers(sizes, torch.float32)
        for dtype in (torch.float16, torch.bfloat16):
            with torch.autocast("cuda", dtype):
                y = _call(module, x.cuda())
            self.assertEqual(y.dtype, dtype)
            torch.testing.assert_close(y.float().cpu(), _call(host, x), rtol=0.05, atol=0.05)
        # Autocast of the CPU leaves the device's tensors alone. The answer is the CPU's without
        # autocast: not every CPU has an LSTM in bfloat16.
        with torch.autocast("cpu", torch.bfloat16):
            y = _call(module, x.cuda())
        self.assertEqual(y.dtype, torch.float32)
        torch.testing.assert_close(y.cpu(), _call(host, x))

    def test_vmap_over_networks(self) -> None:
        modules = [_on("cuda", lambda: torch.nn.GRUCell(3, 4)) for _ in range(2)]
        weights, _ = _func.stack_module_state(modules)
        x = _numbers((2, 3)).cuda()
        y = _func.vmap(lambda w: _func.functional_call(modules[0], w, (x,)))(weights)
        torch.testing.assert_close(y[1], modules[1](x))


class AttentionTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        generator = torch.Generator().manual_seed(0)
        self.host = [
            torch.randn(1, 2, 3, 4, generator=generator, dtype=torch.float64) for _ in range(3)
        ]
        self.device = [t.cuda().requires_grad_() for t in self.host]

    def test_hessian(self) -> None:
        def loss(query: torch.Tensor, rest: list[torch.Tensor]) -> torch.Tensor:
            output: torch.Tensor = _attention(query, *rest)
            return output.square().sum()

        with sdpa_kernel(SDPBackend.MATH):
            wanted = torch.autograd.functional.hessian(
                lambda q: loss(q, self.host[1:]), self.host[0]
            )
        rest = [t.detach() for t in self.device[1:]]
        found = torch.autograd.functional.hessian(lambda q: loss(q, rest), self.device[0].detach())
        self.assertGreater(float(wanted.abs().max()), 0.01)
        torch.testing.assert_close(found.cpu(), wanted)

    def test_a_change_before_the_backward_pass_is_an_error(self) -> None:
        y = _attention(*self.device)
        with torch.no_grad():
            self.device[2].mul_(5)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.sum().backward()

    @parameterized.parameters(
        SDPBackend.MATH,
        SDPBackend.FLASH_ATTENTION,
        SDPBackend.EFFICIENT_ATTENTION,
        SDPBackend.CUDNN_ATTENTION,
    )
    def test_whichever_is_allowed_computes(self, backend: SDPBackend) -> None:
        with sdpa_kernel(backend):
            found = _attention(*self.device, is_causal=True)
        wanted = _attention(*self.host, is_causal=True)
        torch.testing.assert_close(found.detach().cpu(), wanted)

    def test_all_switched_off_is_an_error(self) -> None:
        with sdpa_kernel([]), self.assertRaisesRegex(RuntimeError, "No viable backend"):
            _attention(*self.device)


class DropoutTest(absltest.TestCase):
    def test_its_derivatives(self) -> None:
        x = _numbers((40,)).cuda().requires_grad_()
        torch.manual_seed(3)
        y = F.dropout(x, 0.4)
        torch.manual_seed(3)
        host = x.detach().cpu().requires_grad_()
        wanted = F.dropout(host, 0.4)
        self.assertEqual(y.tolist(), wanted.tolist())
        for tensor, result in ((x, y), (host, wanted)):
            (gradient,) = torch.autograd.grad(result.pow(3).sum(), tensor, create_graph=True)
            gradient.square().sum().backward()
        assert x.grad is not None and host.grad is not None
        torch.testing.assert_close(x.grad.cpu(), host.grad)

    def test_numbers_that_are_no_floating_point_are_refused(self) -> None:
        for dtype in (torch.int64, torch.complex64):
            with self.assertRaises(RuntimeError):
                F.dropout(torch.ones(3, dtype=dtype, device="cuda"), 0.5)


if __name__ == "__main__":
    absltest.main()
