"""`load` with a .cu file: upstream's, and the one that every described device has."""

from __future__ import annotations

import os
import pathlib

import torch
from absl.testing import absltest
from torch.utils import cpp_extension
from torch_cuda.utils.cpp_extension import CUDAExtension

_SOURCES = pathlib.Path(__file__).parent / "sources"


class LoadTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0+PTX"
        self.folder = self.create_tempdir().full_path

    def test_upstream_s_load_registers_an_operator_with_a_cuda_kernel(self) -> None:
        cpp_extension.load(
            "axpy_operator",
            [str(_SOURCES / "axpy_operator.cpp"), str(_SOURCES / "axpy.cu")],
            build_directory=self.folder,
            is_python_module=False,
        )
        x, y = torch.randn(2, 500)
        result = torch.ops.torch_cuda_test.axpy(x.cuda(), y.cuda(), -2.0)
        torch.testing.assert_close(result.cpu(), -2.0 * x + y)

    def test_load_of_the_description_takes_flags_for_each_compiler(self) -> None:
        module = CUDAExtension.load(
            "square",
            [str(_SOURCES / "square.cu"), str(_SOURCES / "square_of_host.cpp")],
            extra_cflags=["-DSIGN=1"],
            extra_device_flags=["-DSIGN=-1"],
            build_directory=self.folder,
        )
        numbers = torch.arange(100, dtype=torch.int32)
        on_device = numbers.cuda()
        self.assertEqual(module.square(on_device.data_ptr(), len(numbers)), 0)
        self.assertEqual(module.host_square(7), 49)
        torch.testing.assert_close(on_device.cpu(), -numbers * numbers)


if __name__ == "__main__":
    absltest.main()
