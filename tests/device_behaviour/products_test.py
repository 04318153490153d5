"""What torch computes with cuBLAS and cuBLASLt, held against the CPU in double precision."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized

# Rounding of the result and of the sums: half a unit in the last place of the type, and some.
TOLERANCES = {
    torch.float64: 1e-12,
    torch.float32: 1e-4,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
    torch.complex64: 1e-4,
    torch.complex128: 1e-12,
}
TYPES = tuple(TOLERANCES)
NAN = math.nan


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers on the CPU in double precision."""
    return tensor.cpu().to(torch.complex128 if tensor.is_complex() else torch.float64)


def named(types: tuple[torch.dtype, ...]) -> list[tuple[str, torch.dtype]]:
    return [(str(dtype).removeprefix("torch."), dtype) for dtype in types]


class ProductsTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(20)

    def random(self, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.randn(*shape, dtype=dtype, device="cuda")

    def assert_same(self, actual: torch.Tensor, exact: torch.Tensor, dtype: torch.dtype) -> None:
        self.assertEqual(actual.dtype, dtype)
        tolerance = TOLERANCES[dtype]
        torch.testing.assert_close(wide(actual), exact, rtol=tolerance, atol=tolerance * 10)

    def assert_agrees(self, function: Callable[..., torch.Tensor], *operands: torch.Tensor) -> None:
        """A function gives on the device what it gives in double precision on the CPU."""
        exact = function(*(wide(operand) for operand in operands))
        self.assert_same(function(*operands), exact, operands[0].dtype)

    @parameterized.named_parameters(*named(TYPES))
    def test_mm_in_every_layout(self, dtype: torch.dtype) -> None:
        m, n, k = 17, 9, 33
        lefts = {
            "plain": self.random(m, k, dtype=dtype),
            "transposed": self.random(k, m, dtype=dtype).t(),
            "part": self.random(m + 5, k + 3, dtype=dtype)[2 : m + 2, 1 : k + 1],
            "strided": self.random(2 * m, 3 * k, dtype=dtype)[::2, ::3],
        }
        rights = {
            "plain": self.random(k, n, dtype=dtype),
            "transposed": self.random(n, k, dtype=dtype).t(),
            "part": self.random(n + 2, k + 4, dtype=dtype)[:n, 3 : k + 3].t(),
        }
        if dtype.is_complex:
            lefts["adjoint"] = self.random(k, m, dtype=dtype).mH
            rights["conjugate"] = self.random(k, n, dtype=dtype).conj()
        for left, right in itertools.product(lefts, rights):
            with self.subTest(left=left, right=right):
                self.assert_agrees(torch.mm, lefts[left], rights[right])

    @parameterized.named_parameters(*named(TYPES))
    def test_mm_into_a_given_place(self, dtype: torch.dtype) -> None:
        left, right = self.random(6, 7, dtype=dtype), self.random(7, 5, dtype=dtype)
        for place in (
            torch.full((6, 5), NAN, dtype=dtype, device="cuda"),
            torch.full((5, 6), NAN, dtype=dtype, device="cuda").t(),
            torch.full((12, 10), NAN, dtype=dtype, device="cuda")[::2, ::2],
        ):
            torch.mm(left, right, out=place)
            self.assert_same(place, wide(left) @ wide(right), dtype)

    @parameterized.named_parameters(*named(TYPES))
    def test_addmm_scales_both_parts(self, dtype: torch.dtype) -> None:
        base, left, right = (self.random(*shape, dtype=dtype) for shape in ((6, 5), (6, 7), (7, 5)))
        self.assert_agrees(
            lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), base, left, right
        )
        self.assert_agrees(
            lambda c, a, b: torch.addmm(c, a, b, alpha=-1), base[0].clone(), left, right
        )

    @parameterized.named_parameters(*named(TYPES))
    def test_beta_of_zero_ignores_what_is_there(self, dtype: torch.dtype) -> None:
        left, right = self.random(6, 7, dtype=dtype), self.random(7, 5, dtype=dtype)
        base = torch.full((6, 5), NAN, dtype=dtype, device="cuda")
        self.assert_same(torch.addmm(base, left, right, beta=0), wide(left) @ wide(right), dtype)
        vector = torch.full((6,), NAN, dtype=dtype, device="cuda")
        self.assert_same(
            torch.addmv(vector, left, right[:, 0], beta=0), wide(left) @ wide(right[:, 0]), dtype
        )

    @parameterized.named_parameters(*named(TYPES))
    def test_empty_sums_are_zero(self, dtype: torch.dtype) -> None:
        left, right = self.random(3, 0, dtype=dtype), self.random(0, 4, dtype=dtype)
        self.assertEqual((left @ right).abs().sum().item(), 0)
        base = self.random(3, 4, dtype=dtype)
        self.assert_same(torch.addmm(base, left, right, beta=2), 2 * wide(base), dtype)
        self.assertEqual((right @ self.random(4, 2, dtype=dtype)).shape, (0, 2))

    @parameterized.named_parameters(*named(TYPES))
    def test_bmm_in_every_layout(self, dtype: torch.dtype) -> None:
        lefts = {
            "plain": self.random(4, 6, 7, dtype=dtype),
            "transposed": self.random(4, 7, 6, dtype=dtype).mT,
            "batch_inside": self.random(6, 4, 7, dtype=dtype).transpose(0, 1),
            "one_for_all": self.random(1, 6, 7, dtype=dtype).expand(4, 6, 7),
            "every_second": self.random(8, 6, 7, dtype=dtype)[::2],
        }
        rights = {
            "plain": self.random(4, 7, 5, dtype=dtype),
            "transposed": self.random(4, 5, 7, dtype=dtype).mT,
            "strided": self.random(4, 14, 10, dtype=dtype)[:, ::2, ::2],
        }
        for left, right in itertools.product(lefts, rights):
            with self.subTest(left=left, right=right):
                self.assert_agrees(torch.bmm, lefts[left], rights[right])

    @parameterized.named_parameters(*named(TYPES))
    def test_baddbmm_and_addbmm(self, dtype: torch.dtype) -> None:
        left, right = self.random(3, 6, 7, dtype=dtype), self.random(3, 7, 5, dtype=dtype)
        self.assert_agrees(
            lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5, alpha=3),
            self.random(3, 6, 5, dtype=dtype),
            left,
            right,
        )
        self.assert_agrees(torch.addbmm, self.random(6, 5, dtype=dtype), left, right)

    @parameterized.named_parameters(*named(TYPES))
    def test_matrix_times_vector(self, dtype: torch.dtype) -> None:
        vector = self.random(14, dtype=dtype)
        base = self.random(12, dtype=dtype)
        for matrix in (
            self.random(6, 7, dtype=dtype),
            self.random(7, 6, dtype=dtype).t(),
            self.random(12, 14, dtype=dtype)[::2, ::2],
        ):
            self.assert_agrees(torch.mv, matrix, vector[:7])
            self.assert_agrees(torch.mv, matrix, vector[::2])
            self.assert_agrees(
                lambda y, a, x: torch.addmv(y, a, x, beta=2, alpha=0.5),
                base[::2],
                matrix,
                vector[::2],
            )

    @parameterized.named_parameters(*named(TYPES))
    def test_dot_products_of_vectors(self, dtype: torch.dtype) -> None:
        left, right = self.random(300, dtype=dtype), self.random(300, dtype=dtype)
        # Not torch.dot of the CPU: where its BLAS returns complex numbers another way than torch
        # expects, as Debian's does, that is 0.
        for x, y in ((left[:100], right[:100]), (left[::3], right[100:200])):
            self.assert_same(torch.dot(x, y), (wide(x) * wide(y)).sum(), dtype)
            self.assert_same(torch.vdot(x, y), (wide(x).conj() * wide(y)).sum(), dtype)
            self.assert_same(torch.dot(x.conj(), y), (wide(x).conj() * wide(y)).sum(), dtype)
        self.assertEqual(torch.dot(left[:0], right[:0]).item(), 0)

    def test_products_of_bytes_are_exact(self) -> None:
        left = torch.randint(-128, 128, (32, 64), dtype=torch.int8)
        right = torch.randint(-128, 128, (64, 24), dtype=torch.int8)
        exact = left.int() @ right.int()
        self.assertEqual(torch._int_mm(left.cuda(), right.cuda()).tolist(), exact.tolist())
        column_major = right.t().contiguous().t()
        self.assertEqual(torch._int_mm(left.cuda(), column_major.cuda()).tolist(), exact.tolist())

    def test_sums_of_halves_do_not_overflow_on_the_way(self) -> None:
        left = torch.full((2, 4), 200.0, dtype=torch.float16, device="cuda")
        right = torch.tensor([[300.0], [300.0], [-300.0], [-300.0]], device="cuda").half()
        self.assertEqual((left @ right).tolist(), [[0.0], [0.0]])

    def test_a_result_too_large_for_half_is_infinite(self) -> None:
        large = torch.full((4, 4), 200.0, dtype=torch.float16, device="cuda")
        self.assertEqual((large @ large).unique().tolist(), [math.inf])

    @parameterized.named_parameters(*named(TYPES[:4]))
    def test_linear_layers_add_their_bias(self, dtype: torch.dtype) -> None:
        inputs = self.random(4, 6, 32, dtype=dtype)
        weight, bias = self.random(16, 32, dtype=dtype), self.random(16, dtype=dtype)
        self.assert_agrees(torch.nn.functional.linear, inputs, weight, bias)
        self.assert_agrees(torch.nn.functional.linear, inputs, weight)
        self.assert_agrees(torch.nn.functional.linear, inputs[0, 0], weight, bias)

    @parameterized.named_parameters(*named(TYPES[:4]))
    def test_a_linear_layer_takes_one_row_of_any_stride(self, dtype: torch.dtype) -> None:
        # torch gives cuBLASLt the stride of a dimension of size 1 as it is.
        weight, bias = self.random(16, 32, dtype=dtype), self.random(16, dtype=dtype)
        row = self.random(32, dtype=dtype)
        for stride in (0, 1, 32, 100):
            with self.subTest(stride=stride):
                inputs = row.as_strided((1, 32), (stride, 1))
                self.assert_agrees(torch.nn.functional.linear, inputs, weight, bias)

    @parameterized.named_parameters(*named(TYPES[:4]))
    def test_gradients_of_a_linear_layer(self, dtype: torch.dtype) -> None:
        inputs = self.random(20, 8, dtype=dtype)
        weight, bias = self.random(4, 8, dtype=dtype), self.random(4, dtype=dtype)

        def gradients(*operands: torch.Tensor) -> torch.Tensor:
            leaves = [operand.detach().requires_grad_() for operand in operands]
            torch.nn.functional.linear(*leaves).square().sum().backward()
            return torch.cat([leaf.grad.flatten() for leaf in leaves if leaf.grad is not None])

        self.assert_agrees(gradients, inputs, weight, bias)

    @parameterized.product(dtype=TYPES[:4], use_gelu=(False, True), beta=(0.0, 1.0))
    def test_activations_of_a_product(
        self, dtype: torch.dtype, use_gelu: bool, beta: float
    ) -> None:
        bias = self.random(16, dtype=dtype)
        left, right = self.random(8, 32, dtype=dtype) / 4, self.random(32, 16, dtype=dtype)
        sums = wide(left) @ wide(right) + beta * wide(bias)
        # The operator's CUDA form has GELU's tanh form throughout, because cuBLASLt has it.
        exact = (
            torch.nn.functional.gelu(sums, approximate="tanh") if use_gelu else sums.clamp(min=0)
        )
        actual = torch._addmm_activation(bias, left, right, beta=beta, use_gelu=use_gelu)
        self.assert_same(actual, exact, dtype)

    def test_large_products(self) -> None:
        left, right = (
            self.random(*shape, dtype=torch.float32) for shape in ((512, 700), (700, 300))
        )
        self.assert_agrees(torch.mm, left, right)
        with torch.autocast("cuda", torch.bfloat16):
            product = left @ right
        exact = wide(left.bfloat16()) @ wide(right.bfloat16())
        torch.testing.assert_close(wide(product), exact, rtol=1e-2, atol=0.3)

    def test_products_of_pieces_of_an_expandable_segment(self) -> None:
        torch.cuda.memory._set_allocator_settings("expandable_segments:True")
        try:
            # Larger than one piece, which has 20 MiB.
            ones = torch.ones(4096, 4096, device="cuda")
            self.assertEqual((ones @ ones[:, :1]).unique().tolist(), [4096])
        finally:
            torch.cuda.memory._set_allocator_settings("expandable_segments:False")


if __name__ == "__main__":
    absltest.main()
