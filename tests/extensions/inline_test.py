"""`torch.utils.cpp_extension.load_inline` with CUDA code: compiled by nvcc, run on the device."""

from __future__ import annotations

import os
import pathlib
from typing import Any, ClassVar

import torch
from absl.testing import absltest
from torch.utils import cpp_extension

_SOURCES = pathlib.Path(__file__).parent / "sources"
_DECLARATION = "at::Tensor axpy(const at::Tensor& x, const at::Tensor& y, double a);"


class LoadInlineTest(absltest.TestCase):
    module: ClassVar[Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0+PTX"
        cls.module = cpp_extension.load_inline(
            "axpy_inline",
            cpp_sources=_DECLARATION,
            cuda_sources=(_SOURCES / "axpy.cu").read_text(encoding="utf-8"),
            functions=["axpy"],
            build_directory=absltest.get_default_test_tmpdir(),
        )

    def test_kernel_gives_the_cpu_s_answer_for_each_type(self) -> None:
        for dtype in (torch.float32, torch.float64):
            with self.subTest(dtype):
                x, y = torch.randn(2, 1000, dtype=dtype)
                result = self.module.axpy(x.cuda(), y.cuda(), 3.0)
                self.assertEqual(result.device, torch.device("cuda", 0))
                torch.testing.assert_close(result.cpu(), 3.0 * x + y)

    def test_kernel_runs_on_the_current_stream(self) -> None:
        x, y = torch.randn(2, 4096)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            result = self.module.axpy(x.cuda(), y.cuda(), 2.0) * 2
        stream.synchronize()
        torch.testing.assert_close(result.cpu(), 2 * (2.0 * x + y))

    def test_kernel_is_captured_into_a_graph(self) -> None:
        x, y = torch.ones(2, 64, device="cuda")
        self.module.axpy(x, y, 2.0)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = self.module.axpy(x, y, 2.0)
        x.fill_(5.0)
        graph.replay()
        torch.testing.assert_close(result.cpu(), torch.full((64,), 11.0))

    def test_error_of_the_extension_is_a_python_error(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "axpy needs CUDA tensors"):
            self.module.axpy(torch.ones(3), torch.ones(3), 1.0)

    def test_type_without_a_kernel_is_named(self) -> None:
        numbers = torch.ones(3, dtype=torch.int32, device="cuda")
        with self.assertRaisesRegex(RuntimeError, "\"axpy\" not implemented for 'Int'"):
            self.module.axpy(numbers, numbers, 1.0)


if __name__ == "__main__":
    absltest.main()
