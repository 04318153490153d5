"""nvcc's flags and CUDA's libraries become the platform's."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources.flags import translate_flags, translate_libraries
from torch_cuda_adapter.sources.rules import Rules

MUSA = Rules(platforms.load("musa"))
NPU = Rules(platforms.load("npu"))


class FlagsTest(parameterized.TestCase):
    @parameterized.parameters(
        ("-O3 -g -std=c++17 -fPIC -Wall", "-O3 -g -std=c++17 -fPIC -Wall"),
        ("--use_fast_math --expt-relaxed-constexpr", "-ffast-math"),
        ("-gencode arch=compute_80,code=sm_80", "--offload-arch=mp_22"),
        (
            "-gencode=arch=compute_80,code=[sm_80,sm_86]",
            "--offload-arch=mp_22 --offload-arch=mp_31",
        ),
        ("-arch=sm_80 --gpu-architecture sm_90", "--offload-arch=mp_22 --offload-arch=mp_31"),
        ("-Xcompiler -fPIC,-Wall --compiler-options -g", "-fPIC -Wall -g"),
        (
            "-I include -isystem /x -include cuda.h -DA=cudaFoo -D B -UC",
            "-I include -isystem /x -include cuda.h -DA=cudaFoo -DB -UC",
        ),
        ("-DUSE_CUDA -DUSE_CUDA=1", "-DUSE_MUSA -DUSE_MUSA=1"),
        ("-lcudart -l cublas -lnvjpeg -lm -lc10_cuda", "-lmusart -lmublas -lmtjpeg -lm"),
        ("-t 4 --threads=2 -cudart shared", ""),
        ("-O 2 a.o", "-O2 a.o"),
        ("", ""),
    )
    def test_musa(self, flags: str, expected: str) -> None:
        found = translate_flags(flags.split(), MUSA)
        self.assertEqual(" ".join(found.flags), expected)
        self.assertEmpty(found.doubts)

    @parameterized.parameters(
        ("-Xptxas -v", "-Xptxas=-v", "there is no ptxas"),
        ("--ptxas-options=-O3", "-Xptxas=-O3", "there is no ptxas"),
        ("--fmad=false", "--fmad=false", "no rule knows it"),
        (
            "-gencode arch=compute_100,code=sm_100",
            "-gencode=arch=compute_100,code=sm_100",
            "stands for 100",
        ),
    )
    def test_doubts(self, flags: str, flag: str, reason: str) -> None:
        found = translate_flags(["-O3", *flags.split()], MUSA)
        self.assertEqual(found.flags, ("-O3",))
        self.assertLen(found.doubts, 1)
        self.assertEqual(found.doubts[0][0], flag)
        self.assertIn(reason, found.doubts[0][1])

    def test_architectures_of_no_device_code(self) -> None:
        found = translate_flags(["-gencode", "arch=compute_80,code=sm_80", "-lineinfo"], NPU)
        self.assertEqual((found.flags, found.doubts), ((), ()))

    def test_libraries(self) -> None:
        libraries = ["cudart", "m", "c10_cuda", "nccl", "cudart"]
        self.assertEqual(translate_libraries(libraries, MUSA.platform), ["musart", "m", "mccl"])


if __name__ == "__main__":
    absltest.main()
