"""Types that operators have on a GPU and the CPU's kernels lack, held against wider types on the CPU; and the reverse.

    TORCH_CUDA_DEVICES=fake python tests/stock/types_test.py

The lists are those of the installed torch's OpInfos: what an operator has on CUDA and not on the CPU, and what it has
on the CPU and not on CUDA.
"""

from __future__ import annotations

import itertools
import unittest
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

_WIDER = {
    torch.bool: torch.int64,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
    torch.complex64: torch.complex128,
    torch.complex128: torch.complex128,
}
_FLOAT8 = (
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
)
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# Fused operators have tests of their own (fused_test.py, cuda_only_test.py), and so have sums without what is none, of
# which the CPU has no complex ones at all; random numbers differ. Sampled products of half precision are refused.
_ELSEWHERE = (
    "torch.ops.aten.",
    "nn.functional.rrelu",
    "nansum",
    "nanmean",
    "sparse.sampled_addmm",
)


# 8-bit numbers have tests of their own; a GPU computes norms of complex32; one reduction of several is told by an
# argument; a derivative is made of other operators; operators that CUDA does not have at all are computed.
_NOT_REFUSED = (
    "torch._scaled_mm",
    "norm",
    "scatter_reduce",
    "native_dropout_backward",
    "histogram",
)


def refused() -> Iterator[tuple[Any, torch.dtype]]:
    """Operators and the types that the CPU has and CUDA has not."""
    for operator in op_db:
        near = getattr(operator, "dtypesIfCUDA", None) or ()
        for dtype in sorted(set(operator.dtypes) - set(near), key=str):
            if not operator.name.startswith(_NOT_REFUSED):
                yield operator, dtype


def lacking() -> Iterator[tuple[Any, torch.dtype]]:
    """Operators and the types that CUDA has and the CPU has not."""
    for operator in op_db:
        near = getattr(operator, "dtypesIfCUDA", None) or operator.dtypes
        for dtype in sorted(set(near) - set(operator.dtypes), key=str):
            if dtype in _WIDER and not operator.name.startswith(_ELSEWHERE):
                yield operator, dtype


def moved(value: Any, device: str, dtype: torch.dtype | None, wider: torch.dtype | None) -> Any:
    """Arguments on a device, tensors of a type in a wider one."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            copy = leaf.detach().to(device)
            return copy.to(wider) if wider and copy.dtype == dtype else copy
        return wider if wider and leaf is dtype else leaf

    return pytree.tree_map(one, value)


def exact_histogram(numbers: list[int], bins: int, low: int, high: int) -> list[int]:
    """Without rounding."""
    counts = [0] * bins
    for number in numbers:
        if low <= number <= high:
            counts[min(int(Fraction((number - low) * bins, high - low)), bins - 1)] += 1
    return counts


class TypesTest(unittest.TestCase):
    """Numbers of types that the CPU lacks."""

    def setUp(self) -> None:
        torch.manual_seed(1)
        warnings.simplefilter("ignore")

    def test_types_of_the_opinfos(self) -> None:
        seen = 0
        for operator, dtype in lacking():
            wider = _WIDER[dtype]
            samples = operator.sample_inputs("cpu", wider if dtype is not torch.bool else dtype)
            for sample in itertools.islice(samples, 3):
                given = (sample.input, sample.args, sample.kwargs)
                narrow = moved(given, "cpu", wider, dtype if dtype is not torch.bool else None)
                if dtype is torch.complex64:
                    narrow = moved(given, "cpu", wider, dtype)
                with self.subTest(operator=operator.name, dtype=dtype):
                    far = moved(narrow, "cpu", dtype, wider)
                    wanted = operator(far[0], *far[1], **far[2])
                    near = moved(narrow, "cuda", None, None)
                    found = operator(near[0], *near[1], **near[2])
                    half = dtype in (torch.float16, torch.bfloat16, torch.complex32)
                    tolerance = 0.05 if half else 1e-5
                    # A complex convolution is PyTorch's difference of three real ones, of larger numbers.
                    is_difference = dtype is torch.complex32 and "conv" in operator.name
                    for one, other in zip(
                        pytree.tree_leaves(found), pytree.tree_leaves(wanted), strict=True
                    ):
                        torch.testing.assert_close(
                            one.cpu().to(other.dtype),
                            other.to(one.dtype).to(other.dtype),
                            rtol=tolerance,
                            atol=0.5 if is_difference else tolerance,
                            equal_nan=True,
                        )
                    seen += 1
        self.assertGreater(seen, 100)

    def test_types_that_cuda_lacks_are_refused(self) -> None:
        seen = 0
        for operator, dtype in refused():
            said = []
            for sample in operator.sample_inputs("cuda", dtype):
                try:
                    operator(sample.input, *sample.args, **sample.kwargs)
                except NotImplementedError as error:
                    said.append(str(error))
            with self.subTest(operator=operator.name, dtype=dtype):
                # Of empty tensors, and of products of numbers among others, CUDA has all types.
                self.assertIn("fails on a GPU, too", "".join(said))
            seen += 1
        self.assertGreater(seen, 100)

    def test_histograms_of_integers(self) -> None:
        for dtype in _INTEGERS:
            numbers = torch.randint(0, 100, (500,)).to(dtype)
            for bins, low, high in ((10, 0, 99), (7, 3, 50), (49, 0, 49), (1, 0, 99), (99, 0, 98)):
                with self.subTest(dtype=dtype, bins=bins, low=low, high=high):
                    found = torch.histc(numbers.cuda(), bins, low, high)
                    self.assertEqual(found.dtype, dtype)
                    wanted = exact_histogram(numbers.tolist(), bins, low, high)
                    self.assertEqual(found.tolist(), torch.tensor(wanted).to(dtype).tolist())
        # The range of the numbers themselves; numbers that float64 does not tell apart.
        large = torch.tensor([2**60, 2**60 + 1, 2**60 + 3])
        self.assertEqual(torch.histc(large.cuda(), 3).tolist(), [1, 1, 1])
        self.assertEqual(torch.histc(torch.tensor([5, 5]).cuda(), 4).tolist(), [0, 0, 2, 0])
        self.assertEqual(
            torch.histc(torch.tensor([], dtype=torch.int64).cuda(), 2).tolist(), [0, 0]
        )
        out = torch.empty(0, dtype=torch.int64, device="cuda")
        torch.histc(large.cuda(), 3, out=out)
        self.assertEqual(out.tolist(), [1, 1, 1])
        with self.assertRaisesRegex(NotImplementedError, "aten::histc"):
            torch.histc(torch.tensor([-(2**62), 2**62]).cuda(), 1000)
        with self.assertRaisesRegex(RuntimeError, "max must be larger than min"):
            torch.histc(large.cuda(), 3, 5, 1)

    def test_sums_of_complex_numbers_without_those_that_are_none(self) -> None:
        numbers = torch.randn(3, 4, dtype=torch.complex64)
        numbers[1, 2] = torch.tensor(complex(float("nan"), 1))
        numbers[0, 0] = torch.tensor(complex(1, float("nan")))
        plain = torch.where(numbers.isnan(), 0, numbers)
        for dims, keep in ((None, False), (0, False), (1, True), ((0, 1), False)):
            with self.subTest(dims=dims):
                found = torch.nansum(numbers.cuda(), dims, keep)
                wanted = plain.sum(dims, keep) if dims is not None else plain.sum()
                torch.testing.assert_close(found.cpu(), wanted)
                count = (~numbers.isnan()).sum(dims, keep) if dims is not None else 10
                torch.testing.assert_close(
                    torch.nanmean(numbers.cuda(), dims, keep).cpu(), wanted / count
                )

    def test_bool(self) -> None:
        flags = torch.tensor([[True, False], [True, True]])
        self.assertEqual(flags.cuda().trace().item(), 2)
        self.assertEqual(flags.cuda().trace().dtype, torch.int64)
        torch.testing.assert_close(flags.cuda().abs().cpu(), flags)

    def test_many_numbers_of_half_precision_are_added_in_single_precision(self) -> None:
        many, side = 3000, 61
        rows = torch.zeros(many, dtype=torch.int64)
        bags = torch.arange(0, many, 2)
        peak = torch.zeros(1, 1, side, side)
        peak[..., side // 2] = 1
        patch = torch.ones(1, 31 * 31, 31 * 31)
        near_one = 1 + (torch.rand(900, 2) - 0.48) / 20
        pair = torch.ones(2, 3)
        large = torch.full((1, 1, 5), 300.0)

        def sparse(x: Tensor, place: Tensor) -> Tensor:
            return torch.sparse_coo_tensor(torch.stack([place, place]), x[place, 0], (2, 2))

        def of_many(x: Tensor, place: Tensor) -> Tensor:
            indices = torch.stack([place, torch.arange(many, device=x.device)])
            return torch.sparse_coo_tensor(indices, x[place, 0], (2, many))

        # Of numbers and rows. Without a derivative the result is compared, else the gradient of its sum.
        derivatives: dict[str, tuple[Tensor, Any]] = {
            "embedding": (pair, lambda x, i: functional.embedding(i, x)),
            "sparse embedding": (pair, lambda x, i: functional.embedding(i, x, sparse=True)),
            "sum of bags": (
                pair,
                lambda x, i: functional.embedding_bag(i, x, bags.to(i.device), mode="sum"),
            ),
            "mean of bags": (pair, lambda x, i: functional.embedding_bag(i, x, bags.to(i.device))),
            "index": (pair, lambda x, i: x[i]),
            "two indices": (pair, lambda x, i: x[i, i]),
            "second index": (pair, lambda x, i: x[:, i]),
            "average pooling": (peak, lambda x, i: functional.avg_pool2d(x, 31, 1)),
            "largest": (peak, lambda x, i: functional.max_pool2d(x, 31, 1, 15)),
            "largest of a row": (
                peak,
                lambda x, i: functional.max_pool1d(x.flatten(2), 1001, 1, 500),
            ),
            # Its summands are beyond float16.
            "convolution": (
                torch.ones(1, 1, 5),
                lambda x, i: (
                    300
                    * functional.conv1d(
                        functional.pad(x, (1, 1)), x.new_tensor([[[300.0, -298.0]]])
                    )
                ),
            ),
            "patches": (peak, lambda x, i: functional.unfold(x, 31)),
        }
        results: dict[str, tuple[Tensor, Any]] = {
            "product": (near_one, lambda x, i: x.prod()),
            "products of rows": (near_one, lambda x, i: x.prod(0)),
            "product of a type": (near_one, lambda x, i: x.prod(dtype=x.dtype)),
            "product into": (near_one, lambda x, i: torch.prod(x, 0, out=x.new_empty(0))),
            "index_put": (
                pair,
                lambda x, i: x.index_put((i,), x.new_ones(many, 3), accumulate=True),
            ),
            "index_put_": (
                pair,
                lambda x, i: x.clone().index_put_((i,), x.new_ones(()), accumulate=True),
            ),
            "fold": (patch, lambda x, i: functional.fold(x, (side, side), 31)),
            "segments": (
                pair,
                lambda x, i: torch.segment_reduce(
                    x[i, 0], "sum", lengths=torch.tensor([many], device=x.device)
                ),
            ),
            "coalesce": (pair, lambda x, i: sparse(x, i).coalesce().values()),
            "sparse product": (pair, lambda x, i: of_many(x, i) @ x[i]),
            "sparse product and sum": (pair, lambda x, i: torch.addmm(x, of_many(x, i), x[i])),
            # Its summands are beyond float16.
            "transposed convolution": (
                large,
                lambda x, i: functional.conv_transpose1d(x, x.new_tensor([[[300.0, -298.0]]]))[
                    ..., 1:-1
                ],
            ),
        }
        for dtype, gradient in itertools.product((torch.bfloat16, torch.float16), (True, False)):
            for name, (numbers, work) in (derivatives if gradient else results).items():
                with self.subTest(name=name, dtype=dtype):
                    found, wanted = (
                        self._computed(work, of, place, gradient)
                        for of, place in (
                            (numbers.to(dtype).cuda(), rows.cuda()),
                            (numbers.to(dtype).double(), rows),
                        )
                    )
                    self.assertEqual(found.dtype, dtype)
                    allowed = 0.01 * wanted.abs().max().item()
                    torch.testing.assert_close(
                        found.cpu().double(), wanted, rtol=0.01, atol=allowed
                    )

        # Types that do not go together are refused as before.
        place = rows[:1].cuda()
        with self.assertRaisesRegex(RuntimeError, "dtypes match"):
            pair.bfloat16().cuda().index_put_((place,), pair[:1].cuda(), accumulate=True)
        # So is a place that is read, too.
        half = pair.bfloat16().cuda()
        with self.assertRaisesRegex(RuntimeError, "single memory location"):
            half.index_put_((place,), half[:1], accumulate=True)
        torch.testing.assert_close(half.cpu().float(), pair)

    def test_sums_in_single_precision_are_captured(self) -> None:
        numbers = torch.ones(3, 2, dtype=torch.bfloat16, device="cuda")
        rows = torch.zeros(3000, dtype=torch.int64, device="cuda")
        ones = numbers.new_ones(3000, 2)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            added = numbers.clone().index_put_((rows,), ones, accumulate=True)
            product = numbers.prod()
        for value in (2.0, 0.5):
            numbers.fill_(value)
            graph.replay()
            self.assertAlmostEqual(added[0, 0].item(), 3000 + value, delta=16)
            self.assertEqual(added[1, 0].item(), value)
            self.assertEqual(product.item(), value**6)

    def _computed(self, work: Any, numbers: Tensor, rows: Tensor, gradient: bool) -> Tensor:
        if not gradient:
            result: Tensor = work(numbers, rows)
            return result
        (found,) = torch.autograd.grad(work(numbers.requires_grad_(), rows).sum(), numbers)
        return found.coalesce().values() if found.is_sparse else found

    def test_numbers_of_8_bits_are_moved(self) -> None:
        index = torch.tensor([[0, 1, 1], [1, 0, 0]])
        rows, mask = torch.tensor([1, 0]), torch.tensor([[True, False, True], [False, True, False]])
        moves: dict[str, Any] = {
            "gather": lambda x, i, r, m: x.gather(0, i),
            "scatter": lambda x, i, r, m: x.scatter(0, i, x),
            "scatter_": lambda x, i, r, m: x.clone().scatter_(0, i, x.flip(0)),
            "scatter of a number": lambda x, i, r, m: x.scatter(0, i, 1.5),
            "scatter_ of a number": lambda x, i, r, m: x.clone().scatter_(0, i, 1.5),
            "index_copy": lambda x, i, r, m: x.index_copy(0, r, x),
            "index_fill": lambda x, i, r, m: x.index_fill(0, r[:1], 0.5),
            "masked_fill": lambda x, i, r, m: x.masked_fill(m, -2.0),
            "masked_scatter": lambda x, i, r, m: x.masked_scatter(m, x.flip(0)),
            "put_": lambda x, i, r, m: x.clone().put_(r, x[0, :2]),
            "take": lambda x, i, r, m: x.take(r),
            "tril": lambda x, i, r, m: x.tril(),
            "triu_": lambda x, i, r, m: x.clone().triu_(),
            "index": lambda x, i, r, m: x[r],
            "index_put_": lambda x, i, r, m: x.clone().index_put_((r,), x),
            "where": lambda x, i, r, m: torch.where(m, x, x.flip(0)),
        }
        for dtype, (name, move) in itertools.product(_FLOAT8, moves.items()):
            with self.subTest(name=name, dtype=dtype):
                numbers = torch.randn(2, 3).to(dtype)
                # Each is a number of float32, too.
                wanted = move(numbers.float(), index, rows, mask)
                found = move(numbers.cuda(), index.cuda(), rows.cuda(), mask.cuda())
                self.assertEqual(found.dtype, dtype)
                torch.testing.assert_close(found.cpu().float(), wanted, rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
