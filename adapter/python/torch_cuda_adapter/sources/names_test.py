"""How many names each platform's rules translate, and that they are CUDA's.

Argument: a program of the CUDA toolkit, which says where its headers are.
"""

from __future__ import annotations

import functools
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import families
from torch_cuda_adapter.sources.rules import Rules

TOOLKIT = pathlib.Path(sys.argv.pop(1)).resolve().parents[1]
HEADERS = (
    *(
        "cuda_runtime.h",
        "cuda.h",
        "cudaProfiler.h",
        "cuda_profiler_api.h",
        "cublas_v2.h",
        "cublasLt.h",
    ),
    *("cufft.h", "cufftXt.h", "curand.h", "curand_kernel.h", "cusolverDn.h", "cusolverSp.h"),
    *(
        "cusolverRf.h",
        "cusparse.h",
        "nccl.h",
        "nvToolsExt.h",
        "nvjpeg.h",
        "cuda_fp16.h",
        "cuda_bf16.h",
        "cuda_fp8.h",
    ),
)
# cuDNN is no part of the toolkit; names of PyTorch's are upstream's.
ELSEWHERE = frozenset({"cudnn", "torch", "qualified", "headers", "members", "kernels"})
# What later or earlier toolkits have, and what only a compiler for devices sees.
OTHER_VERSIONS = frozenset(
    {
        "__CUDACC__",
        "__NVCC__",
        "cudaGridDependencySynchronize",
        "cudaTriggerProgrammaticLaunchCompletion",
    }
)
# torchada's README speaks of more than 380 mappings.
PUBLISHED = 400


@functools.cache
def cuda_names() -> frozenset[str]:
    """All identifiers of CUDA's headers, those of macros included."""
    compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("g++-13")
    assert compiler is not None, "this test needs a C++ compiler"
    source = "".join(f"#if __has_include(<{h}>)\n#include <{h}>\n#endif\n" for h in HEADERS)
    command = [compiler, "-E", "-dD", "-x", "c++", "-std=c++17", f"-I{TOOLKIT / 'include'}", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=True)
    return frozenset(re.findall(r"[A-Za-z_]\w*", done.stdout))


def counted(platform: str) -> Counter[str]:
    """How many distinct names of each family a platform's rules translate."""
    names = set(Rules(platforms.load(platform)).names())
    return Counter(family for _, family in names)


class CountTest(parameterized.TestCase):
    @parameterized.parameters(("musa", 2600), ("mlu", 180), ("npu", 135), ("stand-in", 90))
    def test_all_names(self, platform: str, least: int) -> None:
        self.assertGreaterEqual(counted(platform).total(), least)

    def test_more_than_torchada_publishes(self) -> None:
        self.assertGreater(counted("musa").total(), PUBLISHED)

    @parameterized.parameters(
        *(("runtime", 560), ("driver", 690), ("cublas", 500), ("cudnn", 180), ("cufft", 70)),
        *(("curand", 110), ("cusolver", 150), ("cusparse", 160), ("nccl", 45), ("types", 25)),
        *(("torch", 30), ("headers", 19), ("qualified", 11), ("compiler", 2)),
    )
    def test_musas_families(self, family: str, least: int) -> None:
        self.assertGreaterEqual(counted("musa")[family], least)

    @parameterized.parameters("musa", "mlu", "npu", "stand-in")
    def test_every_family_has_a_word(self, platform: str) -> None:
        """Translated, kept, or missing for a reason: no family is forgotten."""
        listed = platforms.load(platform).table("sources")["families"]
        self.assertSameElements(listed, [family.name for family in families.families()])


class CudaNamesTest(parameterized.TestCase):
    @parameterized.parameters("musa", "mlu", "npu", "stand-in")
    def test_names_are_cudas(self, platform: str) -> None:
        rules = Rules(platforms.load(platform))
        named = {(name, family) for name, family in rules.names() if family not in ELSEWHERE}
        named |= {
            (name, family)
            for name, family, _ in rules.unsupported()
            if name != "*" and family not in ELSEWHERE
        }
        unknown = {name for name, _ in named} - cuda_names() - OTHER_VERSIONS
        self.assertEmpty(unknown)

    def test_most_of_the_runtime_is_known_for_musa(self) -> None:
        rules = Rules(platforms.load("musa"))
        known = {name for name, family in rules.names() if family == "runtime"}
        functions = {
            n for n in cuda_names() if re.fullmatch(r"cuda(?:Malloc|Mem|Stream|Event)\w*", n)
        }
        self.assertGreater(len(functions & known), 100)


if __name__ == "__main__":
    absltest.main()
