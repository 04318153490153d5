"""What each check accepts and refuses. torch is a fake with the attributes that are read."""

from __future__ import annotations

import dataclasses
import pathlib
import types
from collections.abc import Callable
from typing import Any

from absl.testing import absltest

from torch_cuda import _checks
from torch_cuda._errors import ActivationError
from torch_cuda.fake_installation import BUILD


def torch(
    version: str = "2.6.0+cpu", cuda: str | None = None, hip: str | None = None, **c: object
) -> types.SimpleNamespace:
    return types.SimpleNamespace(
        __version__=version,
        version=types.SimpleNamespace(cuda=cuda, hip=hip),
        cuda=types.SimpleNamespace(),
        _C=types.SimpleNamespace(**{"_GLIBCXX_USE_CXX11_ABI": True, **c}),
    )


class ChecksTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.package = pathlib.Path(self.create_tempdir().full_path) / "torch_cuda"
        self.package.mkdir()
        (self.package / "_CUDAC.so").write_bytes(b"12345")

    def installation(
        self, torch_module: types.SimpleNamespace | None = None, **build: Any
    ) -> _checks.Installation:
        return _checks.Installation(
            dataclasses.replace(BUILD, **build),
            self.package,
            torch_module or torch(),
        )

    def refusal(
        self, check: Callable[[_checks.Installation], None], installation: _checks.Installation
    ) -> str:
        with self.assertRaises(ActivationError) as caught:
            check(installation)
        return str(caught.exception)

    def record(self, *lines: str) -> None:
        dist_info = self.package.parent / "torch_cuda-2.6.0+cu124.dist-info"
        dist_info.mkdir()
        (dist_info / "RECORD").write_text("\n".join(lines), encoding="utf-8")

    def test_everything_passes_on_what_the_wheel_was_built_for(self) -> None:
        for _, check in _checks.CHECKS:
            check(self.installation())

    def test_local_part_of_the_torch_version_does_not_matter(self) -> None:
        _checks.check_torch_version(self.installation(torch("2.6.0+debian")))

    def test_another_torch_version_is_refused_with_both_named(self) -> None:
        text = self.refusal(_checks.check_torch_version, self.installation(torch("2.7.1+cpu")))
        self.assertIn("found torch 2.7.1+cpu", text)
        self.assertIn("needed torch 2.6.0", text)
        self.assertIn('pip install "torch==2.6.0"', text)

    def test_the_torch_to_install_has_the_abi_of_the_build(self) -> None:
        for version, abi, index in (
            ("2.6.0", True, "cpu-cxx11-abi"),
            ("2.6.0+debian", False, "cpu"),
            ("2.7.1", True, "cpu"),
        ):
            wheel = self.installation(torch("2.5.0"), torch_version=version, cxx11_abi=abi)
            text = self.refusal(_checks.check_torch_version, wheel)
            self.assertRegex(text, rf"https://download\.pytorch\.org/whl/{index}\n")

    def test_another_python_is_refused_with_both_named(self) -> None:
        text = self.refusal(_checks.check_python, self.installation(python_tag="cp37"))
        self.assertIn(f"found Python {_checks.python_tag()}", text)
        self.assertIn("needed Python cp37", text)

    def test_another_abi_is_refused(self) -> None:
        text = self.refusal(_checks.check_cxx11_abi, self.installation(cxx11_abi=False))
        self.assertIn("found a torch with _GLIBCXX_USE_CXX11_ABI=1", text)
        self.assertIn("needed one with _GLIBCXX_USE_CXX11_ABI=0", text)

    def test_a_torch_with_cuda_is_refused(self) -> None:
        own = torch(version="2.6.0+cu126", cuda="12.6")
        text = self.refusal(_checks.check_torch_is_cpu_only, self.installation(own))
        self.assertIn("already has CUDA 12.6", text)
        self.assertIn("pip uninstall torch_cuda", text)

    def test_a_torch_with_rocm_is_refused(self) -> None:
        text = self.refusal(_checks.check_torch_is_cpu_only, self.installation(torch(hip="6.2")))
        self.assertIn("already has ROCm 6.2", text)

    def test_a_torch_with_cuda_bindings_of_unknown_version_is_refused(self) -> None:
        bound = torch(_cuda_getDeviceCount=lambda: 0)
        text = self.refusal(_checks.check_torch_is_cpu_only, self.installation(bound))
        self.assertIn("already has CUDA bindings", text)

    def test_bindings_that_another_plugin_loaded_are_refused(self) -> None:
        taken = torch()
        taken.cuda._CUDAC = types.SimpleNamespace(__name__="other_cuda._CUDAC")
        text = self.refusal(_checks.check_only_plugin, self.installation(taken))
        self.assertIn("other_cuda._CUDAC (already active)", text)

    def test_our_own_bindings_are_no_second_plugin(self) -> None:
        taken = torch()
        taken.cuda._CUDAC = types.SimpleNamespace(__name__="torch_cuda._CUDAC")
        _checks.check_only_plugin(self.installation(taken))

    def test_files_of_the_recorded_size_pass(self) -> None:
        self.record("torch_cuda/_CUDAC.so,sha256=x,5", "other/file,sha256=x,1")
        _checks.check_files(self.installation())

    def test_a_file_of_another_size_is_refused(self) -> None:
        self.record("torch_cuda/_CUDAC.so,sha256=x,500")
        text = self.refusal(_checks.check_files, self.installation())
        self.assertIn("_CUDAC.so (5 bytes instead of 500)", text)
        self.assertIn("--force-reinstall", text)

    def test_a_missing_file_is_refused(self) -> None:
        self.record("torch_cuda/_CUDAC.so,sha256=x,5", "torch_cuda/lib/libtorch_cuda.so,,7")
        text = self.refusal(_checks.check_files, self.installation())
        self.assertIn("libtorch_cuda.so (missing)", text)

    def test_missing_bindings_are_refused_where_there_is_no_record(self) -> None:
        (self.package / "_CUDAC.so").unlink()
        self.assertIn("missing", self.refusal(_checks.check_files, self.installation()))

    def test_many_damaged_files_are_counted_rather_than_listed(self) -> None:
        self.record(*(f"torch_cuda/{number},,1" for number in range(9)))
        text = self.refusal(_checks.check_files, self.installation())
        self.assertIn("and 6 more", text)

    def test_recorded_names_may_be_quoted(self) -> None:
        self.record('"torch_cuda/a,b",sha256=x,3')
        (file,) = _checks.recorded_files(self.package)
        self.assertEqual(file.path, self.package / "a,b")
        self.assertEqual(file.size, 3)


if __name__ == "__main__":
    absltest.main()
