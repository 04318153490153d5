"""A release of the two wheels that need no PyTorch: what pip, sha256sum and CycloneDX's schema say of the folder."""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import zipfile
from typing import ClassVar

from absl.testing import absltest

from tools.release import installation, notes, release, sbom, wheels

_PARSER = argparse.ArgumentParser()
for _name in ("changelog", "components", "linked", "program"):
    _PARSER.add_argument(f"--{_name}", type=pathlib.Path)
_PARSER.add_argument("--version")
_PARSER.add_argument("--component", action="append")
_PARSER.add_argument("--wheel", type=pathlib.Path, action="append")
ARGUMENTS, sys.argv[1:] = _PARSER.parse_known_args()


def make(folder: pathlib.Path, paths: list[pathlib.Path] | None = None) -> list[wheels.Wheel]:
    versions = json.loads(ARGUMENTS.linked.read_text()) | dict(
        each.split("=") for each in ARGUMENTS.component
    )
    return release.make(
        folder,
        paths or ARGUMENTS.wheel,
        ARGUMENTS.changelog,
        ARGUMENTS.components,
        versions,
        ARGUMENTS.version,
    )


def changed(wheel: pathlib.Path, folder: pathlib.Path, member: str, text: str) -> pathlib.Path:
    """A copy of a wheel with another text in a file of its dist-info."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            if name.endswith((".dist-info/METADATA", ".dist-info/RECORD")) or "/licenses/" in name:
                target.writestr(name, text if name.endswith(member) else source.read(name))
    return copy


class FolderTest(absltest.TestCase):
    folder: ClassVar[pathlib.Path]
    made: ClassVar[list[wheels.Wheel]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(absltest.get_default_test_tmpdir()) / "release"
        cls.made = make(cls.folder)

    def test_sums_are_those_of_all_files(self) -> None:
        done = subprocess.run(
            ["sha256sum", "--check", "--strict", "SHA256SUMS"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        files = {
            str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()
        }
        self.assertEqual(
            {line.split(":")[0] for line in done.stdout.splitlines()}, files - {"SHA256SUMS"}
        )

    def test_pip_installs_from_the_index_and_a_kernel_runs(self) -> None:
        said = installation.check(
            self.folder,
            ("torch_cuda_sim", "torch_cuda_runtime"),
            ARGUMENTS.program.read_text(),
            pathlib.Path(self.create_tempdir().full_path) / "environment",
        )
        self.assertIn("the numbers are right", said)

    def test_both_forms_of_the_index_name_the_same_files(self) -> None:
        for wheel in self.made:
            page = (self.folder / "simple" / wheel.name / "index.html").read_text()
            answer = json.loads((self.folder / "simple" / wheel.name / "index.json").read_text())
            (file,) = answer["files"]
            self.assertEqual(file["filename"], wheel.path.name)
            self.assertIn(f"{file['url']}#sha256={file['hashes']['sha256']}", page)
            path = self.folder / "simple" / wheel.name / file["url"]
            self.assertEqual(path.resolve(), wheel.path.resolve())
            self.assertTrue(path.with_name(path.name + ".metadata").is_file())

    def test_the_bill_of_materials_names_what_is_linked(self) -> None:
        bill = json.loads((self.folder / "sbom.cdx.json").read_text())
        found = {each["name"]: each for each in bill["components"]}
        self.assertContainsSubset(
            {"OpenBLAS", "LZ4", "pocketfft", "PyTorch", "torch-cuda-sim"}, found
        )
        # Debian's package of this machine, asked by another program.
        asked = ["dpkg-query", "--show", "--showformat=${source:Version}", "liblz4-dev"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            self.assertEqual(found["LZ4"]["version"], done.stdout)
        (runtime,) = (wheel for wheel in self.made if wheel.name == "torch-cuda-runtime")
        (inside,) = (each for each in bill["dependencies"] if each["ref"] == runtime.path.name)
        self.assertIn("torch-cuda-runtime/OpenBLAS", inside["dependsOn"])

    def test_it_is_made_again_to_the_byte(self) -> None:
        again = pathlib.Path(self.create_tempdir().full_path) / "again"
        make(again)
        self.assertEqual(
            (again / "SHA256SUMS").read_text(), (self.folder / "SHA256SUMS").read_text()
        )

    def test_the_notes_are_the_version_s(self) -> None:
        text = (self.folder / "NOTES.md").read_text()
        self.assertStartsWith(text, f"## {ARGUMENTS.version}")
        self.assertEqual(text.count("\n## "), 0)


class RefusedTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.scratch = pathlib.Path(self.create_tempdir().full_path)
        (self.runtime,) = (path for path in ARGUMENTS.wheel if "runtime" in path.name)

    def test_a_wheel_without_a_licence_that_has_to_go_with_it(self) -> None:
        wheel = changed(
            self.runtime, self.scratch, "licenses/OpenBLAS", "Its package is not known here."
        )
        with self.assertRaisesRegex(sbom.ComponentError, r"OpenBLAS.*torch_cuda_runtime"):
            make(self.scratch / "release", [wheel])

    def test_a_description_that_no_index_shows(self) -> None:
        with zipfile.ZipFile(self.runtime) as archive:
            (member,) = (
                name for name in archive.namelist() if name.endswith(".dist-info/METADATA")
            )
            headers = archive.read(member).decode().split("\n\n")[0]
        wheel = changed(self.runtime, self.scratch, ".dist-info/METADATA", headers + "\n")
        with self.assertRaisesRegex(release.ReleaseError, "twine"):
            make(self.scratch / "release", [wheel])

    def test_a_folder_with_files(self) -> None:
        (self.scratch / "mine").write_text("")
        with self.assertRaisesRegex(release.ReleaseError, "empty or not there"):
            make(self.scratch)

    def test_a_version_that_no_change_names(self) -> None:
        with self.assertRaisesRegex(notes.NotesError, r"9\.9\.9"):
            notes.section("# Changes\n\n## 0.5.0\n\n- One.\n", "9.9.9")
        self.assertEqual(
            notes.section("## 1.0\n\n- a\n\n## 0.9\n\n- b\n", "1.0"), "## 1.0\n\n- a\n"
        )

    def test_a_component_without_a_version(self) -> None:
        with self.assertRaisesRegex(sbom.ComponentError, "OpenBLAS"):
            sbom.components(ARGUMENTS.components, {})

    def test_a_file_that_is_no_wheel(self) -> None:
        path = self.scratch / "x-1.0-py3-none-any.whl"
        path.write_text("no archive")
        with self.assertRaisesRegex(wheels.WheelError, path.name):
            wheels.read(path)


if __name__ == "__main__":
    absltest.main()
