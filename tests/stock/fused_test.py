"""Operators that PyTorch has CUDA kernels for only, held against their definitions on the CPU.

TORCH_CUDA_DEVICES=fake python tests/stock/fused_test.py
"""

from __future__ import annotations

import functools
import itertools
import math
import unittest
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

_ATEN = torch.ops.aten
_TORCH: Any = torch  # whose `out_dtype` older versions do not have
_LENGTHS = (3, 5, 1)
_HEADS, _SIZE = 4, 8
_TOLERANCES = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    """The definition, of [batch, heads, length, size]."""
    groups = query.shape[1] // key.shape[1]
    scores = query @ key.repeat_interleave(groups, 1).mT / math.sqrt(query.shape[-1])
    if bias is not None:
        scores = scores + bias
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -math.inf)
    return scores.softmax(-1) @ value.repeat_interleave(groups, 1)


def by_sequences(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """The definition, of [all, heads, size]."""
    parts = [one.split(_LENGTHS) for one in (query, key, value)]
    return torch.cat(
        [
            attention(*(one.transpose(0, 1)[None] for one in three), causal=causal)[0].transpose(
                0, 1
            )
            for three in zip(*parts, strict=True)
        ]
    )


def by_name(causal: bool) -> dict[str, Callable[..., Tensor]]:
    """The operators that are named after kernels, of [batch, heads, length, size]."""
    return {
        "flash": lambda *of: _ATEN._scaled_dot_product_flash_attention(*of, 0.0, causal)[0],
        "efficient": lambda *of: _ATEN._scaled_dot_product_efficient_attention(
            *of, None, True, 0.0, causal
        )[0],
        "cudnn": lambda *of: _ATEN._scaled_dot_product_cudnn_attention(
            *of, None, True, 0.0, causal
        )[0],
    }


def of_sequences(causal: bool) -> dict[str, Callable[..., Tensor]]:
    """Those of sequences that lie one behind the other, of [all, heads, size]."""
    ends = torch.tensor([0, *itertools.accumulate(_LENGTHS)], dtype=torch.int32).cuda()
    most = max(_LENGTHS)
    return {
        "flash": lambda *of: _ATEN._flash_attention_forward(
            *of, ends, ends, most, most, 0.0, causal, False
        )[0],
        "efficient": lambda *of: _ATEN._efficient_attention_forward(
            *(one[None] for one in of), None, ends, ends, most, most, 0.0, int(causal), True
        )[0][0],
    }


def rms_norm(shape: Sequence[int], eps: float, x: Tensor, weight: Tensor) -> Tensor:
    """PyTorch's."""
    return F.rms_norm(x, list(shape), weight, eps)


def normalize(x: Tensor, weight: Tensor, dims: int, eps: float) -> Tensor:
    """RMS norm by its definition."""
    mean = x.square().mean(list(range(-dims, 0)), keepdim=True)
    return x / (mean + eps).sqrt() * weight


def in_tiles(scales: Tensor) -> Tensor:
    """Scales of [rows, blocks] as cuBLAS reads them: tiles of 128 x 4, whose rows i + 32 n are neighbours."""
    rows, blocks = scales.shape
    wide = (blocks + 3) // 4
    tiles = torch.zeros((rows + 127) // 128 * wide * 512, dtype=torch.uint8)
    r, c = torch.arange(rows)[:, None], torch.arange(blocks)
    places = (r // 128 * wide + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4
    tiles[places] = scales.view(torch.uint8)
    return tiles.view(scales.dtype)


def scaled_forms(rows: int, columns: int, k: int) -> dict[str, tuple[Any, ...]]:
    """Recipe, swizzle, both scales as factors, and as _scaled_mm and _scaled_mm_v2 want them."""

    def blocks(scales: Tensor, high: int, size: int, count: int) -> Tensor:
        return scales.repeat_interleave(high, 0)[:count].repeat_interleave(size, 1)[:, :k]

    whole = torch.rand(1), torch.rand(1)
    of_rows = torch.rand(rows, 1), torch.rand(columns, 1)
    narrow = torch.rand(rows, 2), torch.rand(columns, 2)
    square = torch.rand(2, 2), torch.rand(2, 2)
    padded = [torch.cat([one.t(), torch.rand(2, 2)]) for one in square]
    forms: dict[str, tuple[Any, ...]] = {
        "whole": (0, 0, *whole, [*whole, *whole]),
        "rows": (1, 0, *of_rows, [of_rows[0], of_rows[1].t(), of_rows[0], of_rows[1].t()]),
        "1 x 128": (
            4,
            0,
            blocks(narrow[0], 1, 128, rows),
            blocks(narrow[1], 1, 128, columns),
            [narrow[0], narrow[1].t(), *narrow],
        ),
        "128 x 128": (
            5,
            0,
            blocks(square[0], 128, 128, rows),
            blocks(square[1], 128, 128, columns),
            [square[0], square[1].t(), *padded],
        ),
    }
    if hasattr(torch, "float8_e8m0fnu"):
        powers = [
            torch.randint(125, 130, (n, k // 32), dtype=torch.uint8).view(torch.float8_e8m0fnu)
            for n in (rows, columns)
        ]
        tiles = [in_tiles(one) for one in powers]
        forms["1 x 32"] = (
            3,
            1,
            *(blocks(one.float(), 1, 32, len(one)) for one in powers),
            [*tiles, *tiles],
        )
    return forms


class FusedTest(unittest.TestCase):
    """Results and gradients."""

    def setUp(self) -> None:
        torch.manual_seed(1)

    def compare(
        self,
        ours: Callable[..., Tensor],
        definition: Callable[..., Tensor],
        given: Sequence[Tensor],
    ) -> None:
        """Holds a function on CUDA against one on the CPU in double precision, and their gradients."""
        tolerance = _TOLERANCES[given[0].dtype]
        near = [one.cuda().requires_grad_() for one in given]
        far = [one.double().requires_grad_() for one in given]
        found, wanted = ours(*near), definition(*far)
        self.assertEqual(found.device.type, "cuda")
        torch.testing.assert_close(found.cpu().double(), wanted, rtol=tolerance, atol=tolerance)
        weights = torch.randn_like(wanted).to(given[0].dtype)
        found_gradients = torch.autograd.grad(found, near, weights.cuda().to(found.dtype))
        wanted_gradients = torch.autograd.grad(wanted, far, weights.double())
        for one, other in zip(found_gradients, wanted_gradients, strict=True):
            torch.testing.assert_close(
                one.cpu().double(), other, rtol=4 * tolerance, atol=4 * tolerance
            )

    def test_attention_by_the_names_of_kernels(self) -> None:
        for dtype, causal, key_heads in itertools.product(
            (torch.float32, torch.float16, torch.bfloat16), (False, True), (_HEADS, 2)
        ):
            query = torch.randn(2, _HEADS, 7, _SIZE, dtype=dtype)
            key, value = torch.randn(2, 2, key_heads, 7, _SIZE, dtype=dtype)
            definition = functools.partial(attention, causal=causal)
            for name, call in by_name(causal).items():
                with self.subTest(name=name, dtype=dtype, causal=causal, key_heads=key_heads):
                    self.compare(call, definition, [query, key, value])

    def test_what_is_added_to_the_scores(self) -> None:
        three = list(torch.randn(3, 2, _HEADS, 7, _SIZE))
        for shape in ((2, _HEADS, 7, 7), (1, 1, 7, 7), (2, _HEADS, 1, 7)):
            with self.subTest(shape=shape):
                self.compare(
                    lambda *of: _ATEN._scaled_dot_product_efficient_attention(*of, True)[0],
                    lambda q, k, v, b: attention(q, k, v, bias=b),
                    [*three, torch.randn(shape)],
                )

    def test_queries_and_keys_of_different_number(self) -> None:
        query = torch.randn(2, _HEADS, 3, _SIZE)
        key, value = torch.randn(2, 2, _HEADS, 5, _SIZE)
        self.compare(
            lambda *of: _ATEN._scaled_dot_product_efficient_attention(*of, None, True, 0.0, True)[
                0
            ],
            lambda *of: attention(*of, causal=True),
            [query, key, value],
        )
        with self.assertRaisesRegex(NotImplementedError, "3 queries and 5 keys"):
            _ATEN._scaled_dot_product_flash_attention(
                query.cuda(), key.cuda(), value.cuda(), 0.0, True
            )

    def test_sequences_of_different_lengths(self) -> None:
        given = list(torch.randn(3, sum(_LENGTHS), _HEADS, _SIZE))
        for causal in (False, True):
            definition = functools.partial(by_sequences, causal=causal)
            for name, call in of_sequences(causal).items():
                with self.subTest(name=name, causal=causal):
                    self.compare(call, definition, given)

    def test_a_window(self) -> None:
        given = list(torch.randn(3, 2, 7, _HEADS, _SIZE))
        found = _ATEN._flash_attention_forward(
            *(one.cuda() for one in given),
            None,
            None,
            7,
            7,
            0.0,
            False,
            False,
            window_size_left=2,
            window_size_right=1,
        )[0]
        distance = torch.arange(7) - torch.arange(7)[:, None]
        mask = torch.zeros(7, 7).masked_fill((distance < -2) | (distance > 1), -math.inf)
        q, k, v = (one.transpose(1, 2) for one in given)
        wanted = attention(q, k, v, bias=mask).transpose(1, 2)
        torch.testing.assert_close(found.cpu(), wanted)

    def test_dropout_refuses(self) -> None:
        three = [torch.randn(1, 2, 4, _SIZE, device="cuda") for _ in range(3)]
        with self.assertRaisesRegex(NotImplementedError, "dropout_p=0"):
            _ATEN._scaled_dot_product_flash_attention(*three, 0.5)

    def test_jagged_tensors(self) -> None:
        three = [
            torch.nested.nested_tensor(
                [torch.randn(one, _HEADS * _SIZE) for one in _LENGTHS], layout=torch.jagged
            )
            for _ in range(3)
        ]

        def attend(device: str) -> Tensor:
            heads = [one.to(device).unflatten(-1, [_HEADS, _SIZE]).transpose(1, 2) for one in three]
            result: Tensor = F.scaled_dot_product_attention(*heads).transpose(1, 2).values().cpu()
            return result

        torch.testing.assert_close(attend("cuda"), attend("cpu"))

    def test_each_backend_that_a_program_may_ask_for(self) -> None:
        q, k, v = torch.randn(3, 2, _HEADS, 6, _SIZE)
        wanted = attention(q, k, v, causal=True)
        for backend in (
            SDPBackend.FLASH_ATTENTION,
            SDPBackend.EFFICIENT_ATTENTION,
            SDPBackend.CUDNN_ATTENTION,
            SDPBackend.MATH,
        ):
            with self.subTest(backend=backend), sdpa_kernel(backend):
                found = F.scaled_dot_product_attention(q.cuda(), k.cuda(), v.cuda(), is_causal=True)
                torch.testing.assert_close(found.cpu(), wanted)

    def test_rms_norm(self) -> None:
        for dtype, shape, eps in itertools.product(_TOLERANCES, ((8,), (5, 8)), (1e-3, 1e-6)):
            given = [torch.randn(3, 5, 8, dtype=dtype), torch.randn(shape, dtype=dtype)]
            with self.subTest(dtype=dtype, shape=shape, eps=eps):
                self.compare(
                    functools.partial(rms_norm, shape, eps),
                    functools.partial(normalize, dims=len(shape), eps=eps),
                    given,
                )

    def test_rms_norm_of_the_cpu_without_eps(self) -> None:
        for dtype in _TOLERANCES:
            with self.subTest(dtype=dtype):
                # Small numbers, of which eps decides.
                x = (torch.randn(4, 8) * 1e-4).to(dtype)
                torch.testing.assert_close(F.rms_norm(x.cuda(), (8,)).cpu(), F.rms_norm(x, (8,)))

    def test_products_with_a_type_of_their_own(self) -> None:
        if not hasattr(_ATEN.mm, "dtype"):
            self.skipTest(f"torch {torch.__version__} has none")
        for dtype in (torch.float16, torch.bfloat16):
            left, right = torch.randn(4, 64).to(dtype), torch.randn(64, 6).to(dtype)
            wanted = left.double() @ right.double()
            near = left.cuda(), right.cuda()
            added = torch.randn(4, 6).to(dtype)
            found = {
                "mm": (_TORCH.mm(*near, out_dtype=torch.float32), wanted),
                "bmm": (
                    _TORCH.bmm(near[0][None], near[1][None], out_dtype=torch.float32)[0],
                    wanted,
                ),
                "addmm": (
                    _TORCH.addmm(added.cuda(), *near, out_dtype=torch.float32, beta=2, alpha=3),
                    2 * added.double() + 3 * wanted,
                ),
                "baddbmm": (
                    _TORCH.baddbmm(
                        added.cuda()[None], near[0][None], near[1][None], out_dtype=torch.float32
                    )[0],
                    added.double() + wanted,
                ),
            }
            for name, (one, other) in found.items():
                with self.subTest(name=name, dtype=dtype):
                    self.assertEqual(one.dtype, torch.float32)
                    torch.testing.assert_close(one.cpu().double(), other, rtol=1e-5, atol=1e-5)

    def test_cudnn_stays_switched_on_and_its_operators_are_right(self) -> None:
        self.assertTrue(torch.backends.cudnn.enabled)
        image, weight = torch.randn(2, 4, 6, 6), torch.randn(3, 4, 3, 3)
        near = image.cuda(), weight.cuda()
        plain = F.conv2d(image, weight, padding=1)
        found = {
            "convolution": (
                torch.cudnn_convolution(*near, [1, 1], [1, 1], [1, 1], 1, False, False, False),
                plain,
            ),
            "relu": (
                torch.cudnn_convolution_relu(*near, None, [1, 1], [1, 1], [1, 1], 1),
                plain.relu(),
            ),
            "add and relu": (
                torch.cudnn_convolution_add_relu(
                    *near, plain.cuda(), 2.0, torch.ones(3).cuda(), [1, 1], [1, 1], [1, 1], 1
                ),
                (plain + 1 + 2 * plain).relu(),
            ),
            "transpose": (
                torch.cudnn_convolution_transpose(
                    near[0],
                    weight.transpose(0, 1).cuda(),
                    [1, 1],
                    [0, 0],
                    [2, 2],
                    [1, 1],
                    1,
                    False,
                    False,
                    False,
                ),
                F.conv_transpose2d(image, weight.transpose(0, 1), stride=2, padding=1),
            ),
        }
        for name, (one, other) in found.items():
            with self.subTest(name=name):
                torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-4)
        theta = torch.randn(2, 2, 3)
        torch.testing.assert_close(
            torch.cudnn_affine_grid_generator(theta.cuda(), 2, 4, 5, 5).cpu(),
            F.affine_grid(theta, [2, 4, 5, 5], align_corners=True),
        )
        grid = torch.rand(2, 5, 5, 2) * 2 - 1
        self.compare(
            lambda x, g: F.grid_sample(x, g, align_corners=True),
            lambda x, g: F.grid_sample(x, g, align_corners=True),
            [image, grid],
        )
        self.compare(
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
            [image, torch.randn(4), torch.randn(4)],
        )

    def test_recurrent_networks(self) -> None:
        for network in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
            for bidirectional in (False, True):
                with self.subTest(network=network.__name__, bidirectional=bidirectional):
                    far = network(5, 6, 2, bidirectional=bidirectional)
                    near = network(5, 6, 2, bidirectional=bidirectional)
                    near.load_state_dict(far.state_dict())
                    near.cuda()
                    x = torch.randn(7, 3, 5)
                    found, wanted = near(x.cuda())[0], far(x)[0]
                    torch.testing.assert_close(found.cpu(), wanted, rtol=1e-5, atol=1e-5)
                    found.square().sum().backward()
                    wanted.square().sum().backward()
                    for one, other in zip(near.parameters(), far.parameters(), strict=True):
                        assert one.grad is not None
                        torch.testing.assert_close(one.grad.cpu(), other.grad, rtol=1e-4, atol=1e-4)

    def test_depthwise_convolutions(self) -> None:
        # Forward only: upstream's derivative takes the operator for one without groups.
        image, weight = torch.randn(2, 6, 8, 8), torch.randn(12, 1, 3, 3)
        ones = [1, 1]
        torch.testing.assert_close(
            _ATEN._conv_depthwise2d(
                image.cuda(), weight.cuda(), [3, 3], None, ones, ones, ones
            ).cpu(),
            F.conv2d(image, weight, padding=1, groups=6),
            rtol=1e-5,
            atol=1e-5,
        )

    def test_products_of_scaled_numbers(self) -> None:
        rows, columns, k = 160, 144, 256
        left, right = (torch.randn(n, k).to(torch.float8_e4m3fn) for n in (rows, columns))
        bias = torch.randn(columns)
        v2 = getattr(_ATEN, "_scaled_mm_v2", None)
        for name, (recipe, swizzle, one, other, by_recipe) in scaled_forms(
            rows, columns, k
        ).items():
            wanted = (left.float() * one) @ (right.float() * other).t() + bias
            given = left.cuda(), right.cuda().t()
            by_sizes = tuple(scale.cuda() for scale in by_recipe[:2])
            with self.subTest(name=name):
                found = _ATEN._scaled_mm(
                    *given, *by_sizes, bias=bias.cuda(), out_dtype=torch.float32
                )
                torch.testing.assert_close(found.cpu(), wanted, rtol=1e-4, atol=1e-3)
            if v2 is None:
                continue
            with self.subTest(name=name, version=2):
                a, b = (scale.cuda() for scale in by_recipe[2:])
                settings = [[a], [recipe], [swizzle], [b], [recipe], [swizzle]]
                found = v2(*given, *settings, bias.cuda(), torch.float32)
                torch.testing.assert_close(found.cpu(), wanted, rtol=1e-4, atol=1e-3)
                out = torch.empty(rows, columns, device="cuda")
                v2.out(*given, *settings, bias.cuda(), torch.float32, out=out)
                torch.testing.assert_close(out, found)
        with self.assertRaises(RuntimeError):
            _ATEN._scaled_mm(
                left.cuda(), right.cuda().t(), torch.rand(3, 1).cuda(), torch.rand(1, 3).cuda()
            )

    def test_sizes_that_a_gpu_refuses_in_scaled_products(self) -> None:
        one = torch.ones((), device="cuda")
        for rows, k, columns, text in (
            (16, 41, 128, r"trailing dimension of mat1 to be divisible by 16 .*\(16x41"),
            (16, 48, 20, "mat2 must be divisible by 16"),
        ):
            left, right = (
                torch.ones(n, k, device="cuda").to(torch.float8_e4m3fn) for n in (rows, columns)
            )
            with self.subTest(k=k, columns=columns), self.assertRaisesRegex(RuntimeError, text):
                _ATEN._scaled_mm(left, right.t(), one, one, out_dtype=torch.float32)
        left, right = (torch.ones(n, 16, device="cuda").to(torch.float8_e4m3fn) for n in (3, 32))
        found = _ATEN._scaled_mm(left, right.t(), one, one, out_dtype=torch.float32)
        torch.testing.assert_close(found.cpu(), torch.full((3, 32), 16.0))

    def test_products_of_numbers_of_4_bits(self) -> None:
        v2 = getattr(_ATEN, "_scaled_mm_v2", None)
        if v2 is None:
            self.skipTest(f"torch {torch.__version__} has none")
        values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        codes = torch.randint(0, 16, (2, 32, 64), dtype=torch.uint8)
        packed = (codes[..., 1::2] << 4 | codes[..., ::2]).view(
            torch.float4_e2m1fn_x2  # type: ignore[attr-defined]  # not in torch 2.6
        )
        blocks = torch.rand(2, 32, 4).to(torch.float8_e4m3fn)
        whole = torch.rand(2, 1)
        scaled = values[codes.long()] * blocks.float().repeat_interleave(16, -1) * whole[..., None]
        a, b = ([in_tiles(blocks[i]).cuda(), whole[i].cuda()] for i in (0, 1))
        found = v2(
            packed[0].cuda(),
            packed[1].cuda().t(),
            a,
            [2, 0],
            [1, 0],
            b,
            [2, 0],
            [1, 0],
            None,
            torch.float32,
        )
        torch.testing.assert_close(found.cpu(), scaled[0] @ scaled[1].t(), rtol=1e-5, atol=1e-4)

    def test_products_of_groups(self) -> None:
        ends = torch.tensor([8, 8, 24], dtype=torch.int32)
        parts = list(itertools.pairwise([0, *ends.tolist()]))
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            flat, many = torch.randn(24, 16).to(dtype), torch.randn(3, 16, 8).to(dtype)
            with self.subTest(dtype=dtype):
                found = _ATEN._grouped_mm(flat.cuda(), many.cuda(), ends.cuda())
                wanted = torch.cat(
                    [flat[i:j].double() @ many[g].double() for g, (i, j) in enumerate(parts)]
                )
                tolerance = _TOLERANCES[dtype]
                torch.testing.assert_close(
                    found.cpu().double(), wanted, rtol=tolerance, atol=tolerance
                )


if __name__ == "__main__":
    unittest.main()
