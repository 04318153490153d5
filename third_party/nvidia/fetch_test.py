"""What is taken out of a wheel, and which wheels are refused."""

import hashlib
import pathlib
import subprocess
import zipfile
from unittest import mock

from absl.testing import absltest

from third_party.nvidia import fetch


class FetchTest(absltest.TestCase):
    """A wheel with headers, unpacked without any network."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.wheel = self.folder / "sample-1.0-py3-none-any.whl"
        with zipfile.ZipFile(self.wheel, "w") as archive:
            archive.writestr("nvidia/sample/include/sample.h", "// header")
            archive.writestr("nvidia/sample/include/deep/detail.h", "// detail")
            archive.writestr("nvidia/sample/other.py", "")

    def test_only_the_named_folders_are_unpacked(self) -> None:
        fetch.unpack(self.wheel, {"include": "nvidia/sample/include"}, self.folder / "out")
        files = [
            path.relative_to(self.folder / "out").as_posix()
            for path in (self.folder / "out").rglob("*.*")
        ]
        self.assertCountEqual(files, ["include/sample.h", "include/deep/detail.h"])

    def test_a_folder_that_is_not_there_is_named(self) -> None:
        with self.assertRaisesRegex(fetch.FetchError, "has no folder nvidia/lib"):
            fetch.unpack(self.wheel, {"lib": "nvidia/lib"}, self.folder / "out")

    def test_a_file_that_leads_elsewhere_is_refused(self) -> None:
        for name in (
            "nvidia/sample/include/../../../outside.h",
            "nvidia/sample/include//outside.h",
        ):
            with self.subTest(name):
                with zipfile.ZipFile(self.wheel, "w") as archive:
                    archive.writestr(name, "// header")
                with self.assertRaisesRegex(fetch.FetchError, "leads out of"):
                    fetch.unpack(
                        self.wheel, {"include": "nvidia/sample/include"}, self.folder / "out"
                    )
                self.assertEmpty(list(self.folder.rglob("outside.h")))

    def test_what_no_build_does_without_is_not_said_to_be_optional(self) -> None:
        failed = subprocess.CompletedProcess([], 1, "", "no network")
        for requirement, optional in (
            ("nvidia-cutlass==1", False),
            ("nvidia-cudnn-cu12==1", True),
            ("nvidia-cudnn-frontend==1", True),
        ):
            with (
                self.subTest(requirement),
                mock.patch.object(subprocess, "run", return_value=failed),
                self.assertRaises(fetch.FetchError) as raised,
            ):
                fetch.fetch(requirement, "", "py3", str(self.folder / "out"), {})
            self.assertIn("no network", str(raised.exception))
            self.assertEqual("build without" in str(raised.exception), optional)

    def test_the_pinned_wheel_is_accepted(self) -> None:
        fetch.check(self.wheel, hashlib.sha256(self.wheel.read_bytes()).hexdigest())

    def test_any_other_wheel_is_refused(self) -> None:
        with self.assertRaisesRegex(fetch.FetchError, "is pinned in"):
            fetch.check(self.wheel, "0" * 64)

    def test_a_wheel_for_one_python_is_asked_for_by_its_tag(self) -> None:
        command = fetch.pip_command("sample==1.0", "cp311", "out")
        self.assertIn("--python-version=311", command)
        self.assertIn("--abi=cp311", command)
        self.assertNotIn("--abi=py3", fetch.pip_command("sample==1.0", "py3", "out"))


if __name__ == "__main__":
    absltest.main()
