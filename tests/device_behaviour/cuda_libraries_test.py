"""CUDA's libraries that torch's operators of this build do not call work on torch's tensors."""

from __future__ import annotations

import ctypes
import importlib
import math

import torch
from absl.testing import absltest, parameterized

from tests.device_behaviour import programs

LOWER = 0
VECTORS = 1
PHILOX = 161
# Elements of a work area that is large enough.
WORK = 1 << 16
# cuSPARSE's settings, and CUDA's numbers of the types.
INDEX_32I = 2
ZERO_BASED = 0
PLAIN = 0
TYPES = {torch.float32: 0, torch.float64: 1, torch.complex64: 4, torch.complex128: 5}
# cuSOLVER's names of the types, and how eigenvalues are called.
LETTERS = {
    torch.float32: ("S", "sy"),
    torch.float64: ("D", "sy"),
    torch.complex64: ("C", "he"),
    torch.complex128: ("Z", "he"),
}


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    """The address of a tensor's elements."""
    return ctypes.c_void_p(tensor.data_ptr())


def column_major(matrix: torch.Tensor) -> torch.Tensor:
    """A copy on the device, whose rows are the columns."""
    return matrix.mT.contiguous().cuda()


class SolverTest(parameterized.TestCase):
    def setUp(self) -> None:
        torch.zeros(1, device="cuda")
        self.library = ctypes.CDLL("libcusolver.so.11")
        self.handle = ctypes.c_void_p()
        self.assertEqual(self.library.cusolverDnCreate(ctypes.byref(self.handle)), 0)
        self.info = torch.full((1,), -1, dtype=torch.int32, device="cuda")

    def tearDown(self) -> None:
        self.assertEqual(self.library.cusolverDnDestroy(self.handle), 0)

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function, which succeeds, and waits for it."""
        function = getattr(self.library, "cusolverDn" + name)
        self.assertEqual(function(self.handle, *arguments), 0)
        torch.cuda.synchronize()
        self.assertEqual(self.info.item(), 0)

    @parameterized.parameters(*LETTERS)
    def test_cholesky(self, dtype: torch.dtype) -> None:
        n = 12
        root = torch.randn(n, n, dtype=dtype, generator=torch.Generator().manual_seed(1))
        matrix = root @ root.mH + n * torch.eye(n)
        there = column_major(matrix)
        work = torch.empty(WORK, dtype=dtype, device="cuda")
        self.call(
            LETTERS[dtype][0] + "potrf",
            LOWER,
            n,
            pointer(there),
            n,
            pointer(work),
            WORK,
            pointer(self.info),
        )
        torch.testing.assert_close(there.cpu().mT.tril(), torch.linalg.cholesky(matrix))

    @parameterized.parameters(*LETTERS)
    def test_eigenvalues(self, dtype: torch.dtype) -> None:
        n = 9
        matrix = torch.randn(n, n, dtype=dtype, generator=torch.Generator().manual_seed(2))
        matrix = matrix + matrix.mH
        there = column_major(matrix)
        values = torch.empty(n, dtype=dtype.to_real(), device="cuda")
        work = torch.empty(WORK, dtype=dtype, device="cuda")
        letter, symmetric = LETTERS[dtype]
        self.call(
            f"{letter}{symmetric}evd",
            VECTORS,
            LOWER,
            n,
            pointer(there),
            n,
            pointer(values),
            pointer(work),
            WORK,
            pointer(self.info),
        )
        expected = torch.linalg.eigvalsh(matrix)
        torch.testing.assert_close(values.cpu(), expected, rtol=1e-4, atol=1e-4)
        vectors = there.cpu().mT
        torch.testing.assert_close(
            matrix @ vectors, vectors * values.cpu().to(dtype), rtol=1e-4, atol=1e-4
        )

    @parameterized.parameters(*LETTERS)
    def test_singular_values(self, dtype: torch.dtype) -> None:
        rows, columns = 11, 6
        matrix = torch.randn(rows, columns, dtype=dtype, generator=torch.Generator().manual_seed(3))
        there = column_major(matrix)
        values = torch.empty(columns, dtype=dtype.to_real(), device="cuda")
        u = torch.empty(columns, rows, dtype=dtype, device="cuda")
        vt = torch.empty(columns, columns, dtype=dtype, device="cuda")
        work = torch.empty(WORK, dtype=dtype, device="cuda")
        self.call(
            LETTERS[dtype][0] + "gesvd",
            ctypes.c_byte(ord("S")),
            ctypes.c_byte(ord("S")),
            rows,
            columns,
            pointer(there),
            rows,
            pointer(values),
            pointer(u),
            rows,
            pointer(vt),
            columns,
            pointer(work),
            WORK,
            None,
            pointer(self.info),
        )
        singular = values.cpu()
        torch.testing.assert_close(singular, torch.linalg.svdvals(matrix), rtol=1e-4, atol=1e-4)
        product = (u.cpu().mT * singular.to(dtype)) @ vt.cpu().mT
        torch.testing.assert_close(product, matrix, rtol=1e-4, atol=1e-4)


class SparseTest(parameterized.TestCase):
    @parameterized.parameters(*TYPES)
    def test_product_with_a_vector(self, dtype: torch.dtype) -> None:
        torch.zeros(1, device="cuda")
        library = ctypes.CDLL("libcusparse.so.12")
        generator = torch.Generator().manual_seed(4)
        dense = torch.randn(7, 5, dtype=dtype, generator=generator)
        dense[dense.abs() < 1] = 0
        csr = dense.to_sparse_csr()
        vector = torch.randn(5, dtype=dtype, generator=generator)
        there = [
            part.cuda()
            for part in (csr.crow_indices().int(), csr.col_indices().int(), csr.values(), vector)
        ]
        result = torch.zeros(7, dtype=dtype, device="cuda")
        handle, matrix, x, y = (ctypes.c_void_p() for _ in range(4))
        alpha, beta = torch.ones(1, dtype=dtype), torch.zeros(1, dtype=dtype)
        kind = TYPES[dtype]
        size = ctypes.c_int64
        for status in (
            library.cusparseCreate(ctypes.byref(handle)),
            library.cusparseCreateCsr(
                ctypes.byref(matrix),
                size(7),
                size(5),
                size(csr.values().numel()),
                *(pointer(part) for part in there[:3]),
                INDEX_32I,
                INDEX_32I,
                ZERO_BASED,
                kind,
            ),
            library.cusparseCreateDnVec(ctypes.byref(x), size(5), pointer(there[3]), kind),
            library.cusparseCreateDnVec(ctypes.byref(y), size(7), pointer(result), kind),
            library.cusparseSpMV(
                handle, PLAIN, pointer(alpha), matrix, x, pointer(beta), y, kind, PLAIN, None
            ),
        ):
            self.assertEqual(status, 0)
        torch.cuda.synchronize()
        torch.testing.assert_close(result.cpu(), dense @ vector)
        for status in (
            library.cusparseDestroySpMat(matrix),
            library.cusparseDestroyDnVec(x),
            library.cusparseDestroyDnVec(y),
            library.cusparseDestroy(handle),
        ):
            self.assertEqual(status, 0)


def random_library() -> str:
    """Where libcurand is, which no library of torch_cuda's needs."""
    if not programs.IS_SIMULATED:
        return "libcurand.so.10"
    package = importlib.import_module("torch_cuda_runtime")
    folder, _ = package.library_folders(12)
    return str(folder / "libcurand.so.10")


class RandomTest(absltest.TestCase):
    def test_normal_numbers(self) -> None:
        values = torch.zeros(1 << 16, device="cuda")
        library = ctypes.CDLL(random_library())
        generator = ctypes.c_void_p()
        self.assertEqual(library.curandCreateGenerator(ctypes.byref(generator), PHILOX), 0)
        self.assertEqual(
            library.curandGenerateNormal(
                generator,
                pointer(values),
                ctypes.c_size_t(values.numel()),
                ctypes.c_float(2),
                ctypes.c_float(3),
            ),
            0,
        )
        torch.cuda.synchronize()
        numbers = values.cpu()
        self.assertAlmostEqual(numbers.mean().item(), 2, delta=15 / math.sqrt(numbers.numel()))
        self.assertAlmostEqual(numbers.std().item(), 3, delta=15 / math.sqrt(numbers.numel()))
        # NVIDIA's library begins with this one.
        self.assertAlmostEqual(numbers[0].item(), 2 + 3 * -0.924662411, delta=1e-5)
        self.assertEqual(library.curandDestroyGenerator(generator), 0)


if __name__ == "__main__":
    absltest.main()
