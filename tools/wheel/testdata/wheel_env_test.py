"""Tests of the rules plugin_wheel and wheel_env: a py_test imports what the wheel holds."""

from __future__ import annotations

import importlib
import importlib.metadata
import pathlib

import torch
from absl.testing import absltest

# The sample is in no type checker's sight: it exists only once its wheel is unpacked.
torch_cuda_sample = importlib.import_module("torch_cuda_sample")
_build_info = importlib.import_module("torch_cuda_sample._build_info")


class WheelEnvTest(absltest.TestCase):
    def test_import_torch_loads_the_plugin(self) -> None:
        self.assertTrue(torch_cuda_sample.loaded_by_torch)

    def test_library_of_the_wheel_is_used(self) -> None:
        self.assertEqual(torch_cuda_sample.answer(), 42)

    def test_build_info_is_generated(self) -> None:
        self.assertEqual(_build_info.ANSWER, 42)

    def test_build_info_knows_the_torch_and_the_settings(self) -> None:
        self.assertEqual(_build_info.TORCH_VERSION, torch.__version__.split("+")[0])
        self.assertEqual(_build_info.CXX11_ABI, torch._C._GLIBCXX_USE_CXX11_ABI)
        self.assertIsInstance(_build_info.CUDNN, bool)
        self.assertNotEmpty(_build_info.CUDA_ARCHS)
        self.assertNotEmpty(_build_info.OPS)

    def test_libraries_come_with_what_they_need(self) -> None:
        self.assertEqual(
            _build_info.CUDA_LIBRARIES,
            {
                "libcusparse.so.12": "nvidia-cusparse-cu12",
                "libnvJitLink.so.12": "nvidia-nvjitlink-cu12",
            },
        )

    def test_typing_marker_is_there(self) -> None:
        self.assertTrue(pathlib.Path(str(_build_info.__file__)).with_name("py.typed").exists())

    def test_wheel_requires_this_torch(self) -> None:
        public_version = torch.__version__.split("+")[0]
        requires = importlib.metadata.requires("torch_cuda_sample")
        self.assertEqual(
            requires,
            [
                f"torch=={public_version}",
                'nvidia-cusparse-cu12>=12.3.1.170,<13; extra == "cuda"',
                'nvidia-nvjitlink-cu12>=12.4.127,<13; extra == "cuda"',
            ],
        )


if __name__ == "__main__":
    absltest.main()
