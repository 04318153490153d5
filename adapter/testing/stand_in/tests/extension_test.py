"""C++ extensions with kernels: CUDA sources, translated by the platform's rules and built against the stand-in."""

from __future__ import annotations

import ctypes
import pathlib
import re

import torch
import torch_stand_in
from absl.testing import absltest
from torch.utils import cpp_extension
from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import Rules, translate, translate_files, write

_ROOT = pathlib.Path(__file__).parents[4]
_BACKEND = pathlib.Path(torch_stand_in.__file__).parent


class ExtensionTest(absltest.TestCase):
    def build(self, name: str, *sources: str) -> str:
        folder = self.create_tempdir()
        translated = translate_files(
            [_ROOT / source for source in sources],
            Rules(platforms.load("stand-in")),
            out=folder.mkdir("sources").full_path,
        )
        self.assertEqual(
            [str(finding) for file in translated for finding in file.findings if finding.is_open],
            [],
        )
        write(translated)
        built = folder.mkdir("build").full_path
        cpp_extension.load(
            name,
            [str(file.target) for file in translated],
            extra_cflags=["-x", "c++", "-O0", f"-I{_BACKEND / 'include'}"],
            extra_ldflags=[f"-L{_BACKEND / 'lib'}", "-lstand_in", "-ltorch_stand_in"],
            build_directory=built,
            is_python_module=False,
        )
        return f"{built}/{name}.so"

    def test_the_platform_s_names_are_there(self) -> None:
        headers = "".join(path.read_text() for path in (_BACKEND / "include").rglob("*.h"))
        declared = set(re.findall(r"\w+", headers))
        rules = Rules(platforms.load("stand-in"))
        named = {translate(name, rules).text for name, _ in rules.names()}
        own = {name for name in named if re.fullmatch(r"\w*[sS]tand\w*|\w*STAND_(?!IN)\w*", name)}
        self.assertGreater(len(own), 90)
        self.assertEmpty(own - declared)

    def test_an_operator(self) -> None:
        sources = "tests/extensions/sources"
        self.build("axpy", f"{sources}/axpy.cu", f"{sources}/axpy_operator.cpp")
        x, y = torch.randn(2, 500)
        stream = torch_stand_in.Stream()
        with torch_stand_in.stream(stream):
            result = torch.ops.torch_cuda_test.axpy(x.stand_in(), y.stand_in(), -2.0)
            self.assertEqual(result.device.type, "stand_in")
            torch.testing.assert_close(result.cpu(), -2.0 * x + y)
        there, graph = x.stand_in(), torch_stand_in.StandGraph()
        with torch_stand_in.graph(graph):
            result = torch.ops.torch_cuda_test.axpy(there, there, 1.0) * 2
        there.fill_(3)
        graph.replay()
        self.assertEqual(result.unique().tolist(), [12])

    def test_the_runtime(self) -> None:
        source = "adapter/testing/stand_in/tests/sources/block_sums.cu"
        library = ctypes.CDLL(self.build("block_sums", source))
        library.launch.restype = library.free_twice.restype = ctypes.c_char_p
        numbers = torch.arange(1000, dtype=torch.int32)
        results = torch.zeros(17, dtype=torch.int32)
        status = library.sums_of_blocks(
            ctypes.c_void_p(numbers.data_ptr()), 1000, ctypes.c_void_p(results.data_ptr())
        )
        self.assertEqual(status, 0)
        expected = [part.sum().item() for part in numbers.split(64)]
        self.assertEqual(results.tolist(), [*expected, sum(expected)])
        self.assertEqual(library.launch(1024), b"standSuccess")
        self.assertEqual(library.launch(1025), b"standErrorInvalidConfiguration")
        self.assertEqual(library.launch(0), b"standErrorInvalidConfiguration")
        self.assertEqual(library.free_twice(), b"standErrorInvalidValue")


if __name__ == "__main__":
    absltest.main()
