"""Types that the CPU's kernels have and CUDA's lack: a program that a GPU refuses does not pass here."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl.testing import absltest, parameterized
from torch.nn import functional

_Work = Callable[[torch.Tensor], object]

_OF_INTEGERS = (
    ("a product", lambda a: a @ a),
    ("a product and a sum", lambda a: torch.addmm(a, a, a)),
    ("a product and a sum in place", lambda a: a.addmm_(a, a)),
    ("a product with a vector", lambda a: a @ a[0]),
    ("a product of vectors", lambda a: a[0].dot(a[1])),
    ("products", lambda a: a[None] @ a[None]),
    ("einsum", lambda a: torch.einsum("ij,kj->ik", a, a)),
    ("a linear layer", lambda a: functional.linear(a, a, a[0])),
    ("a convolution", lambda a: functional.conv1d(a[None], a[:, :, None])),
    ("the largest", lambda a: functional.max_pool2d(a[None], 2)),
    ("a mean", lambda a: functional.avg_pool2d(a[None], 2)),
)

_OF_HALF_PRECISION = (
    ("qr", torch.linalg.qr),
    ("a Cholesky decomposition", lambda a: torch.linalg.cholesky(a @ a.T + 9 * torch.eye(4).to(a))),
    ("eigenvalues", lambda a: torch.linalg.eigvalsh(a)),
    ("singular values", torch.linalg.svdvals),
    ("a solution", lambda a: torch.linalg.solve(a, a)),
    ("a determinant", torch.linalg.det),
    ("distances", lambda a: torch.cdist(a, a)),
    ("igamma", lambda a: torch.igamma(a, a)),
    ("igamma in place", lambda a: a.igamma_(a.clone())),
    ("counts", lambda a: torch.histc(a, 3)),
    ("a special function", lambda a: torch.special.zeta(a + 2, a + 1)),
)


class LackedTypesTest(parameterized.TestCase):
    def _refuses(self, work: _Work, numbers: torch.Tensor) -> None:
        given = numbers.cuda()
        with self.assertRaisesRegex(RuntimeError, "a GPU, too|Low precision dtypes not supported"):
            work(given)
        torch.testing.assert_close(given.cpu(), numbers)  # nothing was written
        work(numbers.double())

    @parameterized.named_parameters(*_OF_INTEGERS)
    def test_integers(self, work: _Work) -> None:
        for type_ in (torch.int64, torch.int32, torch.uint8):
            self._refuses(work, torch.arange(16).view(4, 4).to(type_))

    @parameterized.named_parameters(*_OF_HALF_PRECISION)
    def test_half_precision(self, work: _Work) -> None:
        torch.manual_seed(0)
        for type_ in (torch.bfloat16, torch.float16):
            self._refuses(work, torch.rand(4, 4).to(type_))

    def test_the_message_names_operator_and_type(self) -> None:
        numbers = torch.ones(2, 2, dtype=torch.int64, device="cuda")
        with self.assertRaisesRegex(NotImplementedError, r"aten::mm: CUDA has no kernel .* Long"):
            numbers @ numbers

    def test_what_cuda_has_is_computed(self) -> None:
        whole = torch.arange(16, device="cuda").view(4, 4)
        empty = whole[:0]
        self.assertEqual((empty @ whole).shape, (0, 4))
        self.assertEqual(torch.outer(whole[0], whole[1]).sum().item(), 6 * 22)
        self.assertEqual(torch.histc(whole, 4).tolist(), [4, 4, 4, 4])
        ones = torch.ones(32, 32, dtype=torch.int8, device="cuda")
        self.assertEqual(torch._int_mm(ones, ones)[0, 0], 32)
        half = whole.half() / 16
        self.assertEqual(torch.linalg.vector_norm(half).dtype, torch.float16)
        with torch.autocast("cuda"):
            self.assertEqual(torch.cdist(half, half).dtype, torch.float32)


if __name__ == "__main__":
    absltest.main()
