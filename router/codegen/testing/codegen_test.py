"""Operators whose registration is written from router/codegen/testing/wide.yaml."""

from __future__ import annotations

import torch
from absl.testing import absltest
from torch.testing import assert_close

CUDA = torch.device("cuda", 0)


def setUpModule() -> None:
    torch.cuda.init()  # loads the operators


class StructuredTest(absltest.TestCase):
    def test_all_variants_are_served_by_one_kernel(self) -> None:
        for operator in ("add.Tensor", "add_.Tensor", "add.out", "topk", "topk.values", "cat"):
            self.assertIn("fake_operators", torch._C._dispatch_dump(f"aten::{operator}"))

    def test_outputs_have_the_type_and_shape_of_pytorch_s(self) -> None:
        left, right = torch.arange(4).view(4, 1), torch.randn(3)
        result = torch.add(left.to(CUDA), right.to(CUDA), alpha=2)
        assert_close(result.cpu(), torch.add(left, right, alpha=2))
        with self.assertRaisesRegex(RuntimeError, "must match"):
            torch.add(torch.ones(3, device=CUDA), torch.ones(4, device=CUDA))

    def test_in_place(self) -> None:
        values = torch.randn(3, 4)
        there = values.to(CUDA)
        there.t().add_(1)
        assert_close(there.cpu(), values + 1)
        with self.assertRaises(RuntimeError):
            torch.ones(3, dtype=torch.int64, device=CUDA).add_(1.5)

    def test_out_is_resized_and_checked(self) -> None:
        ones = torch.ones(2, 3, device=CUDA)
        out = torch.empty(0, device=CUDA)
        torch.add(ones, ones, out=out)
        assert_close(out.cpu(), torch.full((2, 3), 2.0))
        for wrong in (torch.empty(0, dtype=torch.int32, device=CUDA), torch.empty(0)):
            with self.assertRaises(RuntimeError):
                torch.add(ones, ones, out=wrong)

    def test_out_with_other_strides(self) -> None:
        values, out = torch.randn(3, 4), torch.empty(4, 3, device=CUDA).t()
        torch.add(values.to(CUDA), 1, out=out)
        assert_close(out.cpu(), values + 1)

    def test_two_outputs(self) -> None:
        values = torch.randn(4, 9)
        top, places = values.to(CUDA).topk(3, dim=1)
        wanted, at = values.topk(3, dim=1)
        assert_close((top.cpu(), places.cpu()), (wanted, at))

    def test_lists_of_tensors(self) -> None:
        parts = [torch.randn(2, 3), torch.randn(4, 3)]
        assert_close(torch.cat([part.to(CUDA) for part in parts]).cpu(), torch.cat(parts))

    def test_gradients_are_pytorch_s(self) -> None:
        values = torch.ones(3, device=CUDA, requires_grad=True)
        torch.add(values, values, alpha=3).sum().backward()
        assert values.grad is not None
        self.assertEqual(values.grad.tolist(), [4, 4, 4])


class PlainTest(absltest.TestCase):
    def test_nothing_is_returned(self) -> None:
        tensors = [torch.zeros(2, device=CUDA), torch.ones(3, device=CUDA)]
        torch._foreach_add_(tensors, 2)
        self.assertEqual([tensor.tolist() for tensor in tensors], [[2, 2], [3, 3, 3]])

    def test_optional_arguments_and_two_results(self) -> None:
        values = torch.randn(3, 4)
        assert_close(torch.var_mean(values.to(CUDA), 1)[0].cpu(), torch.var_mean(values, 1)[0])
        assert_close(torch.var_mean(values.to(CUDA))[1].cpu(), torch.var_mean(values)[1])

    def test_sizes_are_numbers(self) -> None:
        assert_close(torch.eye(3, device=CUDA).cpu(), torch.eye(3))


class OwnTest(absltest.TestCase):
    def test_all_kinds_of_arguments(self) -> None:
        values = torch.ones(3, device=CUDA)
        result = torch.ops.wide.everything(values, None, [2], [0.5], 3, "sum", True)
        self.assertEqual(result.tolist(), [3, 3, 3])
        result = torch.ops.wide.everything(
            values, torch.ones(1, device=CUDA), [2], [0.5], 3, "sum", False, 2, torch.float64
        )
        self.assertEqual(result.tolist(), [13, 13, 13])
        self.assertEqual(result.dtype, torch.float64)

    def test_derivatives_know_all_kinds_of_arguments(self) -> None:
        for mode, weights in (("sum", [3.0]), ("mean", [1.0])):
            values = torch.ones(3, device=CUDA, requires_grad=True)
            weight = torch.ones(1, device=CUDA, requires_grad=True)
            torch.ops.wide.everything(
                values, weight, [2], [0.5], 3, mode, False, 2
            ).sum().backward()
            assert values.grad is not None and weight.grad is not None
            self.assertEqual(values.grad.tolist(), [12, 12, 12])
            self.assertEqual(weight.grad.reshape(-1).tolist(), weights)

    def test_an_optional_tensor_that_is_left_out_has_no_derivative(self) -> None:
        values = torch.ones(3, device=CUDA, requires_grad=True)
        torch.ops.wide.everything(values, None, [1], [1.0], 2, "sum", True).sum().backward()
        assert values.grad is not None
        self.assertEqual(values.grad.tolist(), [2, 2, 2])

    def test_only_what_is_asked_for_is_differentiated(self) -> None:
        values = torch.ones(3, device=CUDA)
        weight = torch.ones(1, device=CUDA, requires_grad=True)
        torch.ops.wide.everything(values, weight, [1], [1.0], 2, "sum", True).sum().backward()
        assert weight.grad is not None
        self.assertEqual(weight.grad.item(), 3)

    def test_derivatives_of_derivatives(self) -> None:
        left, right = (
            torch.randn(3, dtype=torch.float64, device=CUDA, requires_grad=True) for _ in range(2)
        )
        self.assertTrue(torch.autograd.gradcheck(torch.ops.wide.product, (left, right)))
        self.assertTrue(torch.autograd.gradgradcheck(torch.ops.wide.product, (left, right)))

    def test_meta_tensors(self) -> None:
        values = torch.empty(3, 4, device="meta")
        result = torch.ops.wide.everything(
            values, None, [1], [1.0], 1, "sum", True, None, torch.float16
        )
        self.assertEqual((result.device.type, result.dtype), ("meta", torch.float16))

    def test_what_is_written_in_place(self) -> None:
        values = torch.ones(3, device=CUDA)
        self.assertIs(torch.ops.wide.fill_(values, 4.0), values)
        self.assertEqual(values.tolist(), [4, 4, 4])

    def test_overloads_and_two_results(self) -> None:
        first, second = torch.ops.wide.pair.two(torch.ones(2, device=CUDA))
        self.assertEqual((first.tolist(), second.tolist()), ([2, 2], [3, 3]))


if __name__ == "__main__":
    absltest.main()
