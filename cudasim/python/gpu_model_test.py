"""The GPU that is simulated follows the PTX of the packages that are installed."""

from __future__ import annotations

import os
import pathlib
import re
import struct
import subprocess
import sys
from unittest import mock

import torch_cuda_sim
from absl.testing import absltest, parameterized
from torch_cuda_sim import _gpu_model

_PTX = 1
_MACHINE_CODE = 2


def image(*entries: tuple[int, int]) -> bytes:
    """A fat binary: its entries' kinds and capabilities. The format is in runtime/code/fatbin/fatbin.cpp."""
    body = b""
    for kind, capability in entries:
        payload = b"code of some length.....".ljust(24)
        header = struct.pack("<HHIQ", kind, 0x101, 64, len(payload)).ljust(28, b"\0")
        body += (header + struct.pack("<I", capability)).ljust(64, b"\0") + payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


class GpuModelTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.site)]))
        self.enter_context(mock.patch.dict(os.environ))
        os.environ.pop("CUDASIM_PROFILE", None)

    def add(self, package: str, library: str, *images: bytes, section: str = ".nv_fatbin") -> None:
        folder = self.site / package
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
        data = self.site / "images"
        data.write_bytes(b"".join(images))
        code = f'.section {section},"a"\n.align 8\n.incbin "{data}"\n.text\n.globl f\nf: ret\n'
        command = ["gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o"]
        subprocess.run([*command, str(folder / library)], input=code, text=True, check=True)

    def chosen(self) -> str:
        settings: dict[str, str] = torch_cuda_sim.paths()["settings"]
        return settings.get("CUDASIM_PROFILE", _gpu_model.OLDEST)

    def test_the_oldest_is_enough_where_nothing_is_installed(self) -> None:
        paths = torch_cuda_sim.paths()
        self.assertEqual(paths["settings"], {})
        self.assertNotIn("triton_arch", paths)

    def test_a_package_may_need_a_newer_one(self) -> None:
        self.add("torchvision", "_C.so", image((_MACHINE_CODE, 75), (_PTX, 120)))
        paths = torch_cuda_sim.paths()
        self.assertEqual(paths["settings"], {"CUDASIM_PROFILE": "sm_120"})
        self.assertEqual(paths["triton_arch"], "sm80")
        self.assertIn("torchvision (PTX for 120)", paths["about"])

    @parameterized.parameters(
        ([image((_PTX, 80))], "sm_80"),
        ([image((_PTX, 120), (_PTX, 80))], "sm_80"),
        ([image((_PTX, 90))], "sm_90"),
        ([image((_MACHINE_CODE, 120))], "sm_80"),
        ([], "sm_80"),
        # Images lie one after the other, each at eight bytes.
        ([image((_MACHINE_CODE, 90)), image((_PTX, 120))], "sm_120"),
    )
    def test_its_oldest_ptx_counts(self, images: list[bytes], model: str) -> None:
        self.add("torchvision", "_C.so", *images)
        self.assertEqual(self.chosen(), model)

    def test_all_libraries_of_a_package_have_to_run(self) -> None:
        self.add("jax_cuda13_plugin", "_solver.so", image((_PTX, 120)))
        self.add("jax_cuda13_plugin", "_blas.so", image((_PTX, 80)), section="__nv_relfatbin")
        self.assertEqual(self.chosen(), "sm_120")

    def test_of_a_package_with_one_for_each_cuda_the_newest_counts(self) -> None:
        self.add("bitsandbytes", "libbitsandbytes_cuda118.so", image((_PTX, 90)))
        self.add("bitsandbytes", "libbitsandbytes_cuda130.so", image((_PTX, 120)))
        self.assertEqual(self.chosen(), "sm_120")

    def test_the_user_has_the_last_word(self) -> None:
        self.add("torchvision", "_C.so", image((_PTX, 120)))
        os.environ["CUDASIM_PROFILE"] = "sm_90"
        paths = torch_cuda_sim.paths()
        self.assertEqual(paths["settings"], {})
        self.assertEqual(paths["about"], "sm_90, by CUDASIM_PROFILE")

    def test_what_is_no_library_is_left_to_its_loader(self) -> None:
        self.add("torchvision", "_C.so", image((_PTX, 120)))
        library = self.site / "torchvision" / "_C.so"
        whole = library.read_bytes()
        for damaged in (b"", b"\x7fELF", whole[:100], whole[: len(whole) // 2], b"x" * 200):
            library.write_bytes(damaged)
            self.assertIn(self.chosen(), ("sm_80", "sm_120"))

    def test_the_models_are_those_of_the_device(self) -> None:
        source = pathlib.Path(os.environ["GPU_MODELS"]).read_text(encoding="utf-8")
        models = re.findall(r'\{"(sm_\d+)"', source)
        newer = [model for model in models if int(model[3:]) >= 80]
        self.assertEqual(list(_gpu_model.MODELS), newer)


if __name__ == "__main__":
    absltest.main()
