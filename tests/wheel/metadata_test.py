"""Tests of the wheel's metadata, read with importlib.metadata and packaging."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import pathlib
import sys

import torch
from absl.testing import absltest
from packaging import requirements, specifiers, tags, utils

from tests.wheel import elf

SITE = pathlib.Path(os.environ["TORCH_CUDA_TEST_SITE"])
WHEEL = pathlib.Path(sys.argv.pop(1))
PUBLIC_VERSION = torch.__version__.split("+")[0]

build_info = importlib.import_module("torch_cuda._build_info")


class MetadataTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.distribution = importlib.metadata.distribution("torch_cuda")
        self.requirements = [
            requirements.Requirement(line) for line in self.distribution.requires or []
        ]

    def test_file_name_fits_this_python_and_the_metadata(self) -> None:
        name, version, _, wheel_tags = utils.parse_wheel_filename(WHEEL.name)
        self.assertEqual(name, "torch-cuda")
        self.assertEqual(str(version), self.distribution.version)
        self.assertNotEmpty(wheel_tags & set(tags.sys_tags()))
        self.assertIn(str(next(iter(wheel_tags))), self.distribution.read_text("WHEEL") or "")

    def test_requires_exactly_this_torch(self) -> None:
        (torch_requirement,) = (line for line in self.requirements if line.name == "torch")
        self.assertEqual(str(torch_requirement.specifier), f"=={PUBLIC_VERSION}")
        self.assertIsNone(torch_requirement.marker)
        self.assertIn(torch.__version__, torch_requirement.specifier)

    def test_requires_this_python_and_no_other(self) -> None:
        wanted = specifiers.SpecifierSet(self.distribution.metadata["Requires-Python"])
        major, minor, micro = sys.version_info[:3]
        self.assertIn(f"{major}.{minor}.{micro}", wanted)
        self.assertNotIn(f"{major}.{minor + 1}.0", wanted)

    def test_nvidia_packages_come_with_the_extra_only(self) -> None:
        nvidia = [line for line in self.requirements if line.name.startswith("nvidia-")]
        self.assertNotEmpty(nvidia)
        for line in nvidia:
            assert line.marker is not None, line
            self.assertFalse(line.marker.evaluate({"extra": ""}), line)
            self.assertTrue(line.marker.evaluate({"extra": "cuda"}), line)
        self.assertEqual(self.distribution.metadata.get_all("Provides-Extra"), ["cuda"])

    def test_every_cuda_library_has_a_package_in_the_extra(self) -> None:
        packages = {line.name for line in self.requirements}
        needed = {soname for library in SITE.rglob("*.so") for soname in elf.read(library).needed}
        cuda = needed & build_info.CUDA_LIBRARIES.keys()
        self.assertIn("libcudart.so.12", cuda)
        for soname in sorted(cuda):
            self.assertIn(build_info.CUDA_LIBRARIES[soname], packages, soname)

    def test_entry_point_is_callable(self) -> None:
        (entry_point,) = self.distribution.entry_points
        self.assertEqual((entry_point.group, entry_point.name), ("torch.backends", "torch_cuda"))
        self.assertTrue(callable(entry_point.load()))

    def test_licenses_are_inside(self) -> None:
        self.assertEqual(self.distribution.metadata["License-Expression"], "BSD-3-Clause")
        names = self.distribution.metadata.get_all("License-File") or []
        texts = {name: self.distribution.read_text(f"licenses/{name}") or "" for name in names}
        self.assertNotEmpty([name for name, text in texts.items() if "Facebook" in text])
        self.assertNotEmpty([name for name in texts if "NOTICE" in name.upper()])
        for name, text in texts.items():
            self.assertNotEmpty(text, name)

    def test_description_is_the_readme(self) -> None:
        self.assertIn("torch_cuda", self.distribution.metadata["Description"] or "")
        content_type = self.distribution.metadata["Description-Content-Type"]
        self.assertStartsWith(content_type, "text/markdown")

    def test_types_are_inside(self) -> None:
        files = {str(path) for path in self.distribution.files or []}
        self.assertIn("torch_cuda/py.typed", files)
        self.assertIn("torch_cuda/_CUDAC.pyi", files)

    def test_no_tests_and_no_caches_are_inside(self) -> None:
        files = [str(path) for path in self.distribution.files or []]
        self.assertEmpty([path for path in files if path.endswith(("_test.py", ".pyc"))])
        top_level = {path.split("/")[0] for path in files}
        dist_info = f"torch_cuda-{self.distribution.version}.dist-info"
        self.assertEqual(top_level, {"torch_cuda", dist_info})


class BuildInfoTest(absltest.TestCase):
    def test_tells_what_the_wheel_was_built_against(self) -> None:
        self.assertEqual(build_info.VERSION, importlib.metadata.version("torch_cuda"))
        self.assertEqual(build_info.TORCH_VERSION, PUBLIC_VERSION)
        self.assertEqual(build_info.CXX11_ABI, torch._C._GLIBCXX_USE_CXX11_ABI)
        self.assertEqual(build_info.PYTHON_TAG, "cp{}{}".format(*sys.version_info[:2]))

    def test_cuda_version_is_the_one_torch_shows(self) -> None:
        self.assertEqual(torch.version.cuda, build_info.CUDA_VERSION)

    def test_version_names_the_toolkit(self) -> None:
        local = "cu" + build_info.CUDA_VERSION.replace(".", "")
        self.assertEndsWith(build_info.VERSION, f"+{local}")


if __name__ == "__main__":
    absltest.main()
