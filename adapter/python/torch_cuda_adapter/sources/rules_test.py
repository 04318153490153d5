"""What rules answer, and that rules which do not fit each other are refused."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.sources import testing
from torch_cuda_adapter.sources.rules import Called, Renamed, Unknown, Unsupported

RULES = """
[sources.headers]
"cuda_runtime.h" = "x_runtime.h"
"cuda.h" = "cuda.h"
[sources]
header_patterns = [['c10/cuda/CUDA(\\w+)\\.h', 'c10/x/X\\1.h']]
[sources.unsupported_headers]
"cufft.h" = "no transforms"
[sources.qualified]
"at::cuda" = "at::x"
"at::cuda::blas" = { unsupported = "no products" }
[sources.architecture]
macro = "__CUDA_ARCH__"
target = "__X_ARCH__"
values = { 700 = 1, 800 = 2 }
[sources.families.runtime]
replace = [["cuda", "x"]]
names = "cudaMalloc"
renamed = { cudaFree = "release", cudaSuccess = "cudaSuccess" }
calls = { cudaMemset = { 3 = "fill({0}, {2})" } }
unsupported = { cudaMallocManaged = "no such memory" }
[sources.families.cublas]
missing = "no products"
[sources.families.kernels]
kept = true
"""


class AnswersTest(parameterized.TestCase):
    rules = testing.rules(RULES)

    @parameterized.parameters(
        ("cudaMalloc", Renamed("xMalloc", "runtime")),
        ("cudaHostAlloc", Renamed("xHostAlloc", "runtime", assumed=True)),
        ("cudaFree", Renamed("release", "runtime")),
        ("cudaMemset", Called({3: "fill({0}, {2})"}, "runtime")),
        ("cudaMallocManaged", Unsupported("no such memory", "runtime")),
        ("cublasCreate", Unsupported("no products", "cublas")),
        ("cufftPlan1d", Unknown("cufft")),
        # As they are: kept by a rule, of a family that is kept, or not CUDA's.
        ("cudaSuccess", None),
        ("__global__", None),
        ("cuda_helper", None),
        ("malloc", None),
    )
    def test_identifiers(self, name: str, answer: object) -> None:
        self.assertEqual(self.rules.identifier(name), answer)

    @parameterized.parameters(
        ("cuda_runtime.h", Renamed("x_runtime.h", "runtime")),
        ("c10/cuda/CUDAGuard.h", Renamed("c10/x/XGuard.h", "torch")),
        ("cufft.h", Unsupported("no transforms", "cufft")),
        ("cublas_v2.h", Unsupported("no products", "cublas")),
        ("curand.h", Unknown("curand")),
        ("cuda.h", None),
        ("vector", None),
        ("my_cuda_runtime.h", None),
    )
    def test_headers(self, name: str, answer: object) -> None:
        self.assertEqual(self.rules.header(name), answer)

    @parameterized.parameters(
        (["at", "cuda", "CUDAEvent"], (2, Renamed("at::x", "torch"))),
        (["at", "cuda"], (2, Renamed("at::x", "torch"))),
        (["at", "cuda", "blas", "gemm"], (3, Unsupported("no products", "torch"))),
        (["c10", "cuda", "f"], (1, Unknown("torch"))),
        (["cub", "f"], (1, Unknown("cub"))),
        (["cub"], (0, None)),
        (["std", "vector"], (0, None)),
        (["my", "at", "cuda"], (0, None)),
    )
    def test_qualified_names(self, parts: list[str], answer: object) -> None:
        self.assertEqual(self.rules.qualified(parts), answer)

    def test_architectures(self) -> None:
        assert self.rules.architecture is not None
        found = [self.rules.architecture.value(n) for n in (500, 700, 750, 800, 801)]
        self.assertEqual(found, [1, 1, 2, 2, None])

    def test_names_that_are_translated(self) -> None:
        expected = {"cudaMalloc", "cudaFree", "cudaMemset", "at::cuda", "cuda_runtime.h", "cuda.h"}
        self.assertEqual({name for name, _ in self.rules.names()}, expected)


class RefusedTest(parameterized.TestCase):
    @parameterized.parameters(
        ('names = "cublasCreate"', "families.runtime: cublasCreate: its family is cublas"),
        ('names = "malloc"', "families.runtime: malloc: its family is none"),
        ('names = "cudaFree"\nrenamed = { cudaFree = "f" }', "cudaFree: it is listed twice"),
        (
            'renamed = { cudaFree = "cudaMalloc" }',
            "its result, cudaMalloc, would be translated again",
        ),
        (
            'calls = { cudaFree = { 1 = "cublasFree({0})" } }',
            "cublasFree, would be translated again",
        ),
        ('names = "CUDART_PI"', "families.runtime: CUDART_PI: nothing of it is replaced"),
    )
    def test_names(self, table: str, message: str) -> None:
        with self.assertRaisesRegex(AdapterError, message):
            testing.rules(f'[sources.families.runtime]\nreplace = [["cuda", "x"]]\n{table}\n')

    @parameterized.parameters(
        (
            '[sources.families.cublas]\nreplace = [["cublas", "mycuda"]]',
            "families.cublas: mycuda would be replaced again",
        ),
        (
            "[sources.families.cudart]\nkept = true",
            "families.cudart: needed one of compiler, kernels",
        ),
        ('[sources.members]\nis_cuda = "cudaIs"', "members.is_cuda: its result, cudaIs"),
        ('[sources.qualified]\n"at::cuda" = "at::cudaX"', "qualified.at::cuda: its result, cudaX"),
        (
            '[sources.headers]\n"a.h" = "b.h"\n"b.h" = "c.h"',
            "headers.a.h: b.h would be translated again",
        ),
    )
    def test_others(self, table: str, message: str) -> None:
        with self.assertRaisesRegex(AdapterError, message):
            testing.rules(f'[sources.families.runtime]\nreplace = [["cuda", "x"]]\n{table}\n')


if __name__ == "__main__":
    absltest.main()
