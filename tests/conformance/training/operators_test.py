"""Operators of many kinds, held against the CPU's."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional

Function = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]

_GENERATOR = torch.Generator().manual_seed(0)

_OF_ONE: dict[str, Function] = {
    "relu": torch.relu,
    "gelu": functional.gelu,
    "silu": functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "exp": torch.exp,
    "log of a square": lambda x: torch.log(x * x + 1),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "neg": torch.neg,
    "sum": torch.sum,
    "sum of rows": lambda x: x.sum(0),
    "mean of columns": lambda x: x.mean(1, keepdim=True),
    "max": lambda x: x.max(1),
    "argmin": lambda x: x.argmin(0),
    "var": lambda x: x.var(1),
    "norm": lambda x: x.norm(),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(0),
    "cumsum": lambda x: x.cumsum(1),
    "sort": lambda x: x.sort(1),
    "topk": lambda x: x.topk(3, 1),
    "transpose": lambda x: x.t().contiguous(),
    "cat": lambda x: torch.cat([x, x.flip(0)], 1),
    "stack": lambda x: torch.stack([x, x + 1]),
    "repeat": lambda x: x.repeat(2, 3),
    "where": lambda x: torch.where(x > 0, x, -2 * x),
    "triu": torch.triu,
    "masked_fill": lambda x: x.masked_fill(x < 0, 5),
    "nonzero": lambda x: (x > 0).nonzero(),
    "slices": lambda x: x[1:7:2, ::3] * 2,
    "pad": lambda x: functional.pad(x, (1, 2, 0, 1)),
    "layer_norm": lambda x: functional.layer_norm(x, x.shape[1:]),
}

_OF_TWO: dict[str, Function] = {
    "add": torch.add,
    "add with alpha": lambda x, y: torch.add(x, y, alpha=3),
    "sub": torch.sub,
    "mul": torch.mul,
    "div": lambda x, y: x / (y.abs() + 1),
    "maximum": torch.maximum,
    "compare": lambda x, y: (x < y) & (x != y),
    "matmul": lambda x, y: x @ y.t(),
    "batched matmul": lambda x, y: torch.bmm(x.expand(3, -1, -1), y.t().expand(3, -1, -1)),
    "broadcast": lambda x, y: x[:, :1] + y[:1],
    "linear": functional.linear,
    "mse_loss": functional.mse_loss,
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
}


def of_numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers on the CPU, others each time."""
    return torch.randn(shape, generator=_GENERATOR).to(dtype)


class OperatorsTest(parameterized.TestCase):
    def assert_as_on_the_cpu(self, function: Function, *tensors: torch.Tensor) -> None:
        expected = function(*tensors)
        actual = function(*(tensor.cuda() for tensor in tensors))
        pairs = (
            zip(actual, expected, strict=True)
            if isinstance(expected, tuple)
            else [(actual, expected)]
        )
        for one, other in pairs:
            assert isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
            self.assertTrue(one.is_cuda)
            coarse = one.dtype in (torch.bfloat16, torch.float16)
            tolerance = 2e-2 if coarse else 1e-4
            if not (one.is_floating_point() or one.is_complex()):
                tolerance = 0
            torch.testing.assert_close(one.cpu(), other, rtol=tolerance, atol=tolerance)

    @parameterized.named_parameters((name, name) for name in _OF_ONE)
    def test_of_one_tensor(self, name: str) -> None:
        for dtype in (torch.float32, torch.float64):
            for tensor in (of_numbers(8, 9, dtype=dtype), of_numbers(9, 8, dtype=dtype).t()):
                self.assert_as_on_the_cpu(_OF_ONE[name], tensor)

    @parameterized.named_parameters((name, name) for name in _OF_TWO)
    def test_of_two_tensors(self, name: str) -> None:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            one, other = of_numbers(8, 9, dtype=dtype), of_numbers(9, 8, dtype=dtype).t()
            self.assert_as_on_the_cpu(_OF_TWO[name], one, other)

    @parameterized.parameters(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
    def test_of_integers(self, dtype: torch.dtype) -> None:
        one = torch.randint(0, 50, (7, 5), generator=_GENERATOR).to(dtype)
        other = torch.randint(1, 50, (7, 5), generator=_GENERATOR).to(dtype)
        for function in (torch.add, torch.mul, torch.bitwise_xor, torch.minimum, torch.eq):
            self.assert_as_on_the_cpu(function, one, other)
        self.assert_as_on_the_cpu(lambda x: x.sum(1), one)

    def test_between_types(self) -> None:
        values = of_numbers(6, 5) * 10
        for dtype in (torch.float64, torch.float16, torch.int32, torch.bool, torch.uint8):
            clean = values.abs()
            self.assert_as_on_the_cpu(lambda x, dtype=dtype: x.to(dtype), clean)

    def test_indexing(self) -> None:
        values, numbers = of_numbers(10, 4), torch.tensor([3, 0, -1, 3])
        self.assert_as_on_the_cpu(lambda x, i: x[i], values, numbers)
        self.assert_as_on_the_cpu(lambda x, i: x.index_select(0, i.clamp(min=0)), values, numbers)
        self.assert_as_on_the_cpu(
            lambda x, i: x.index_add(0, i.clamp(min=0), x[:4]), values, numbers
        )
        columns = torch.tensor([[0, 3, 1, 2]] * 2)
        self.assert_as_on_the_cpu(lambda x, i: x.gather(0, i), values, columns)
        self.assert_as_on_the_cpu(lambda x, i: x.scatter(0, i, 7.0), values, columns)

        def put(tensor: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            changed = tensor.clone()
            changed[index] = 5
            changed[1:3, 2] = tensor[4:6, 0]
            return changed

        self.assert_as_on_the_cpu(put, values, numbers)

    def test_what_networks_are_made_of(self) -> None:
        pictures, weights = of_numbers(2, 4, 9, 8), of_numbers(6, 4, 3, 3)
        self.assert_as_on_the_cpu(
            lambda x, w: functional.conv2d(x, w, stride=2, padding=1), pictures, weights
        )
        self.assert_as_on_the_cpu(
            lambda x, w: functional.conv_transpose2d(x, w[:4], stride=2), pictures, weights
        )
        self.assert_as_on_the_cpu(lambda x: functional.max_pool2d(x, 2), pictures)
        self.assert_as_on_the_cpu(lambda x: functional.avg_pool2d(x, 3, 2), pictures)
        self.assert_as_on_the_cpu(
            lambda x: functional.interpolate(x, scale_factor=2, mode="nearest"), pictures
        )
        self.assert_as_on_the_cpu(
            lambda x: functional.batch_norm(x, None, None, training=True), pictures
        )
        self.assert_as_on_the_cpu(lambda x: functional.group_norm(x, 2), pictures)
        query = of_numbers(2, 3, 5, 8)
        self.assert_as_on_the_cpu(
            lambda q: functional.scaled_dot_product_attention(q, q + 1, q - 1, is_causal=True),
            query,
        )
        table, words = of_numbers(12, 4), torch.randint(12, (3, 5), generator=_GENERATOR)
        self.assert_as_on_the_cpu(lambda t, w: functional.embedding(w, t), table, words)
        scores, labels = of_numbers(5, 7), torch.tensor([0, 6, 2, 3, -100])
        self.assert_as_on_the_cpu(functional.cross_entropy, scores, labels)

    def test_of_nothing(self) -> None:
        for shape in ((0,), (0, 3), (2, 0)):
            self.assert_as_on_the_cpu(lambda x: x * 2 + 1, torch.empty(shape))
            self.assert_as_on_the_cpu(lambda x: x.sum(), torch.empty(shape))
        self.assert_as_on_the_cpu(lambda x, y: x @ y, torch.empty(3, 0), torch.empty(0, 4))

    def test_in_place_and_into(self) -> None:
        values = of_numbers(5, 6)
        tensor = values.cuda()
        address = tensor.data_ptr()
        self.assertIs(tensor.mul_(2).add_(1), tensor)
        self.assertEqual(tensor.data_ptr(), address)
        torch.testing.assert_close(tensor.cpu(), values * 2 + 1)
        out = torch.empty(0, device="cuda")
        self.assertIs(torch.sub(tensor, 1, out=out), out)
        torch.testing.assert_close(out.cpu(), values * 2)
        tensor[:, 1:3].zero_()
        self.assertEqual(tensor[:, 1:3].abs().sum().item(), 0)

    def test_devices_do_not_mix(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.ones(3, device="cuda") + torch.ones(3)
        self.assertEqual((torch.ones(3, device="cuda") + torch.tensor(2.0)).sum().item(), 9)


if __name__ == "__main__":
    absltest.main()
