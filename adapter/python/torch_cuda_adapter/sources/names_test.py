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
from torch_cuda_adapter.sources import families, testing
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.translator import translate

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
ELSEWHERE = frozenset({"cudnn", "torch", "devices", "qualified", "headers", "members", "kernels"})
# What later or earlier toolkits have, and what only a compiler for devices sees.
OTHER_VERSIONS = frozenset(
    {
        "__CUDACC__",
        "__NVCC__",
        "cudaGridDependencySynchronize",
        "cudaTriggerProgrammaticLaunchCompletion",
    }
)
# How CUDA's own headers name what is CUDA's, in this test's words.
LOOKS = re.compile(
    r"\w*cuda[A-Z]\w*|\w*CUDA\w*|cu[A-Z]\w*|CU[a-z]\w*|CU_\w+|__half\w*|atomicAdd|dim3"
    r"|(?:cublas|cufft|curand|cusolver|cusparse|nccl|nvjpeg|nvtx|nvrtc|cupti)[A-Z]\w*"
    r"|(?:CUBLAS|CUFFT|CURAND|CUSOLVER|CUSPARSE|NCCL|NVJPEG|NVTX)\w*"
)
# What headers have for themselves: their guards, and what no program names.
INNER = re.compile(r"_\w*(?:CUDA|CUFFT)\w*|\w+_H_*|IF_DEVICE_OR_CUDACC")
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


class SilenceTest(parameterized.TestCase):
    """What CUDA's headers name is translated, kept by a rule, or a finding."""

    @parameterized.parameters("musa", "mlu", "npu", "stand-in")
    def test_names(self, platform: str) -> None:
        rules = Rules(platforms.load(platform))
        names = sorted(
            name for name in cuda_names() if LOOKS.fullmatch(name) and not INNER.fullmatch(name)
        )
        self.assertGreater(len(names), 5000)
        source = "".join(f"f({name});\n" for name in names)
        translation = translate(source, rules)
        left = set(testing.words(translation.text)) & set(names)
        left -= {finding.name for finding in translation.findings}
        kept = {name for name in left if families.of_name(name) and rules.identifier(name) is None}
        self.assertEmpty(left - kept)

    def test_headers(self) -> None:
        beginnings = ("cu", "nccl", "nvToolsExt", "nvjpeg", "nvrtc", "sm_", "device_", "driver_")
        headers = [
            path.name
            for path in (TOOLKIT / "include").iterdir()
            if path.name.startswith(beginnings) and path.suffix in (".h", ".hpp")
        ]
        self.assertGreater(len(headers), 50)
        self.assertEmpty([name for name in headers if families.of_header(name) is None])


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
