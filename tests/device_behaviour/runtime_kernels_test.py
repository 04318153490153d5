"""Kernels that torch writes and compiles while a program runs."""

from __future__ import annotations

import torch
from absl.testing import absltest

AXPY = "template <typename T> T axpy(T x, T y, T factor) { return factor * x + y; }"
SUM_AND_DIFFERENCE = """
template <typename T> void sum_and_difference(T x, T y, T& sum, T& difference) {
  sum = x + y;
  difference = x - y;
}
"""
BROKEN = "template <typename T> T broken(T x) { return undeclared(x); }"


class RuntimeKernelsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(31)
        self.x, self.y = torch.randn(2, 1000)

    def test_a_function_of_elements(self) -> None:
        axpy = torch.cuda.jiterator._create_jit_fn(AXPY, factor=1.0)
        for factor in (1.0, -2.5):
            torch.testing.assert_close(
                axpy(self.x.cuda(), self.y.cuda(), factor=factor).cpu(), factor * self.x + self.y
            )

    def test_its_operands_may_be_strided_and_of_several_types(self) -> None:
        axpy = torch.cuda.jiterator._create_jit_fn(AXPY, factor=2.0)
        whole = torch.arange(500)
        result = axpy(whole.cuda(), self.y.cuda()[::2]).cpu()
        torch.testing.assert_close(result, 2 * whole + self.y[::2])

    def test_a_function_with_two_results(self) -> None:
        both = torch.cuda.jiterator._create_multi_output_jit_fn(SUM_AND_DIFFERENCE, num_outputs=2)
        total, difference = both(self.x.cuda(), self.y.cuda())
        torch.testing.assert_close(total.cpu(), self.x + self.y)
        torch.testing.assert_close(difference.cpu(), self.x - self.y)

    def test_operators_that_are_compiled_when_they_are_called(self) -> None:
        # Not beyond 1, so that the poles of tanh, where rounding errors grow, are far away.
        numbers = torch.complex(self.x, self.y).sgn() * torch.rand(1000)
        for function in (torch.sigmoid, torch.tanh, torch.exp):
            torch.testing.assert_close(function(numbers.cuda()).cpu(), function(numbers))

    def test_an_error_in_the_source_is_shown(self) -> None:
        broken = torch.cuda.jiterator._create_jit_fn(BROKEN)
        with self.assertRaisesRegex(RuntimeError, "undeclared"):
            broken(self.x.cuda())


if __name__ == "__main__":
    absltest.main()
