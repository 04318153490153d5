"""For which GPUs an extension is compiled: the variable, the visible GPUs, the plugin's own."""

from __future__ import annotations

import os
import subprocess
import warnings
from unittest import mock

import torch
from absl.testing import absltest, parameterized
from torch_cuda.utils.cpp_extension import cuda_architectures


def flags(value: str, *user_flags: str) -> list[str]:
    with mock.patch.dict(os.environ, {"TORCH_CUDA_ARCH_LIST": value}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cuda_architectures.architecture_flags(user_flags)


class VariableTest(parameterized.TestCase):
    @parameterized.parameters(
        ("8.0", ["code=sm_80"]),
        ("8.0+PTX", ["code=compute_80", "code=sm_80"]),
        ("7.5 8.0;9.0a+PTX", ["code=sm_75", "code=sm_80", "code=compute_90a", "code=sm_90a"]),
        ("Ampere", ["code=sm_80", "code=compute_86", "code=sm_86"]),
        ("Ampere+Tegra", ["code=sm_87"]),
        ("10.0", ["code=sm_100"]),
        ("8.0;8.0", ["code=sm_80"]),
    )
    def test_value(self, value: str, expected: list[str]) -> None:
        self.assertCountEqual([flag.partition(",")[2] for flag in flags(value)], expected)

    def test_nvcc_takes_every_flag(self) -> None:
        known = subprocess.run(
            ["nvcc", "--list-gpu-code"], capture_output=True, text=True, check=True
        ).stdout
        for flag in flags("5.0;6.1;7.0;8.6;9.0"):
            self.assertIn(flag.rpartition("code=")[2], known.split())

    def test_user_s_own_choice_comes_first(self) -> None:
        self.assertEqual(flags("8.0", "-O2", "-gencode=arch=compute_90,code=sm_90"), [])

    def test_name_of_an_extension_is_no_choice(self) -> None:
        self.assertLen(flags("8.0", "-DTORCH_EXTENSION_NAME=search"), 1)

    @parameterized.parameters("8", "sm_80", "8.0+ptx", "8.x")
    def test_malformed_value(self, value: str) -> None:
        with self.assertRaisesRegex(ValueError, r"Unknown CUDA arch \("):
            flags(value)


class WithoutVariableTest(absltest.TestCase):
    def test_visible_gpus_are_taken_with_ptx_for_the_newest(self) -> None:
        major, minor = torch.cuda.get_device_capability(0)
        number = f"{major}{minor}"
        self.assertContainsSubset(
            [f"-gencode=arch=compute_{number},code={kind}_{number}" for kind in ("compute", "sm")],
            flags(""),
        )

    def test_without_a_gpu_the_plugin_s_own_are_taken(self) -> None:
        with mock.patch.object(torch.cuda, "device_count", return_value=0):
            found = [flag.rpartition("code=")[2] for flag in flags("")]
        self.assertCountEqual(found, torch.cuda.get_arch_list())

    def test_the_choice_is_told(self) -> None:
        with (
            mock.patch.dict(os.environ, {"TORCH_CUDA_ARCH_LIST": ""}),
            self.assertWarnsRegex(UserWarning, "TORCH_CUDA_ARCH_LIST is not set; compiling for"),
        ):
            cuda_architectures.architecture_flags()


if __name__ == "__main__":
    absltest.main()
