"""Which Triton is installed for a torch, and what is said where it cannot work."""

from __future__ import annotations

import os
import pathlib
import sys
from unittest import mock

from absl.testing import absltest

from tools.stock_torch import environments, triton


class TritonTest(absltest.TestCase):
    def site(self, requires: str) -> pathlib.Path:
        folder = pathlib.Path(self.create_tempdir().full_path)
        info = folder / "torch-2.15.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: torch\nVersion: 2.15.0\n{requires}"
        )
        return folder

    def requirements(self, requires: str, packages: list[str]) -> list[str]:
        with mock.patch.object(environments, "site_packages", return_value=self.site(requires)):
            return triton.requirements(pathlib.Path(sys.executable), packages)

    def test_the_version_is_torch_s(self) -> None:
        requires = (
            "Requires-Dist: triton-kernels>=1\n"
            "Requires-Dist: triton ~=3.9.0 ; platform_system == 'Linux'\n"
        )
        with mock.patch.object(triton, "check_c_compiler"):
            self.assertEqual(
                self.requirements(requires, ["absl-py", "triton"]), ["absl-py", "triton~=3.9.0"]
            )
            self.assertEqual(self.requirements(requires, ["triton==3.8.0"]), ["triton==3.8.0"])

    def test_a_torch_without_triton(self) -> None:
        with (
            mock.patch.object(triton, "check_c_compiler"),
            self.assertRaisesRegex(environments.PreparationError, "triton==VERSION"),
        ):
            self.requirements("Requires-Dist: numpy\n", ["triton"])

    def test_a_compiler_that_is_missing(self) -> None:
        with (
            mock.patch.dict(os.environ, {"CC": "/nowhere/cc"}),
            self.assertRaisesRegex(environments.PreparationError, "/nowhere/cc.*set CC"),
        ):
            triton.check_c_compiler()


if __name__ == "__main__":
    absltest.main()
