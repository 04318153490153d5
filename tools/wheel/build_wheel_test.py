"""Tests of build_wheel.py: what it writes is a wheel that others' tools accept."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import zipfile

from absl.testing import absltest, parameterized

from tools.wheel import build_wheel, fake_wheel, wheel_manifest


class BuildWheelTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.manifest = fake_wheel.manifest(self.folder)

    def _build(self, manifest: wheel_manifest.WheelManifest, folder: str = "out") -> pathlib.Path:
        output = self.folder / folder / manifest.file_name
        output.parent.mkdir()
        build_wheel.build(manifest, output)
        return output

    def test_pip_installs_and_uninstalls_it(self) -> None:
        wheel = self._build(self.manifest)
        venv = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        pip = [sys.executable, "-I", "-m", "pip", "--python", str(venv / "bin" / "python3")]
        before = _files(venv)
        subprocess.run([*pip, "install", "--no-index", "--no-deps", str(wheel)], check=True)
        loaded = subprocess.run(
            [venv / "bin" / "python3", "-c", "import torch_cuda_fake as t; print(t.__file__)"],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertIn(str(venv), loaded.stdout)
        subprocess.run([*pip, "uninstall", "--yes", "torch-cuda-fake"], check=True)
        self.assertEqual(_files(venv), before)

    def test_importlib_reads_its_metadata(self) -> None:
        target = self.folder / "site"
        with zipfile.ZipFile(self._build(self.manifest)) as archive:
            archive.extractall(target)
        (found,) = importlib.metadata.distributions(path=[str(target)])
        self.assertEqual(found.metadata["Name"], "torch-cuda-fake")
        self.assertEqual(found.version, "2.6.0+cu124")
        self.assertEqual(found.metadata["Requires-Python"], ">=3.11")
        self.assertEqual(found.metadata["License-Expression"], "BSD-3-Clause")
        self.assertEqual(
            found.requires,
            ["torch==2.6.0", 'nvidia-cuda-runtime-cu12>=12.4.127,<13; extra == "cuda"'],
        )
        (entry_point,) = found.entry_points.select(group="torch.backends")
        self.assertEqual(entry_point.value, "torch_cuda_fake:autoload")
        self.assertIn("It does nothing.", found.metadata["Description"] or "")
        self.assertEqual(found.read_text("licenses/LICENSE"), "Do as you like.\n")

    def test_wheel_tool_finds_record_right(self) -> None:
        wheel = self._build(self.manifest)
        unpacked = self.folder / "unpacked"
        # `wheel unpack` compares every file with RECORD and fails on the first that differs.
        subprocess.run(
            [sys.executable, "-I", "-m", "wheel", "unpack", "--dest", unpacked, wheel], check=True
        )
        library = next(unpacked.rglob("libfake.so"))
        self.assertEqual(library.read_bytes(), self.manifest.files[2].source.read_bytes())

    @parameterized.parameters(0, 1, 9)
    def test_same_inputs_give_same_bytes(self, level: int) -> None:
        manifest = dataclasses.replace(self.manifest, compression_level=level)
        first = self._build(manifest, "first")
        for file in manifest.files:
            file.source.chmod(0o600)
            file.source.touch()
        shuffled = dataclasses.replace(manifest, files=manifest.files[::-1])
        self.assertEqual(first.read_bytes(), self._build(shuffled, "second").read_bytes())

    def test_level_zero_stores_and_nine_shrinks(self) -> None:
        stored = self._build(dataclasses.replace(self.manifest, compression_level=0), "stored")
        small = self._build(dataclasses.replace(self.manifest, compression_level=9), "small")
        self.assertEqual(_entry(stored, "libfake.so").compress_type, zipfile.ZIP_STORED)
        self.assertLess(small.stat().st_size, stored.stat().st_size / 4)

    def test_shared_objects_and_programs_are_executable_and_nothing_else(self) -> None:
        program = self.folder / "program"
        program.touch(0o600)
        file = dataclasses.replace(
            self.manifest.files[0], source=program, path="torch_cuda_fake/bin/program"
        )
        wheel = self._build(dataclasses.replace(self.manifest, files=(*self.manifest.files, file)))
        self.assertEqual(_entry(wheel, "libfake.so").external_attr >> 16 & 0o777, 0o755)
        self.assertEqual(_entry(wheel, "bin/program").external_attr >> 16 & 0o777, 0o755)
        self.assertEqual(_entry(wheel, "__init__.py").external_attr >> 16 & 0o777, 0o644)

    def test_tags_of_a_binary_wheel(self) -> None:
        manifest = dataclasses.replace(self.manifest, python_tag="cp313", abi_tag="cp313")
        wheel = self._build(manifest)
        self.assertEqual(wheel.name, "torch_cuda_fake-2.6.0+cu124-cp313-cp313-linux_x86_64.whl")
        with zipfile.ZipFile(wheel) as archive:
            text = archive.read(f"{manifest.dist_info}/WHEEL").decode()
        self.assertIn("Root-Is-Purelib: false\n", text)
        self.assertIn("Tag: cp313-cp313-linux_x86_64\n", text)

    def test_marker_of_an_extra_requirement_is_kept(self) -> None:
        manifest = dataclasses.replace(self.manifest, extras={"x": ("a>1; os_name == 'posix'",)})
        with zipfile.ZipFile(self._build(manifest)) as archive:
            text = archive.read(f"{manifest.dist_info}/METADATA").decode()
        self.assertIn("Requires-Dist: a>1; (os_name == 'posix') and extra == \"x\"\n", text)


class RefusalTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.manifest = fake_wheel.manifest(self.folder)

    @parameterized.named_parameters(
        ("name", {"distribution": "torch cuda"}, "no PEP 508 name"),
        ("version", {"version": "2.6-cu124"}, "PEP 440"),
        ("level", {"compression_level": 10}, "0 (stored) to 9"),
    )
    def test_bad_field(self, fields: dict[str, str], message: str) -> None:
        with self.assertRaises(wheel_manifest.ManifestError) as caught:
            dataclasses.replace(self.manifest, **fields)  # type: ignore[arg-type]
        self.assertIn(message, str(caught.exception))

    @parameterized.parameters("/etc/passwd", "../x", "a//b", "a/./b", "a\\b", "")
    def test_path_outside_site_packages(self, path: str) -> None:
        with self.assertRaisesRegex(wheel_manifest.ManifestError, "no path for a wheel"):
            wheel_manifest.check_path(path)

    def test_two_files_for_one_path(self) -> None:
        first, second, _ = self.manifest.files
        clash = wheel_manifest.WheelFile(second.source, first.path)
        with self.assertRaisesRegex(wheel_manifest.ManifestError, "two files go to"):
            dataclasses.replace(self.manifest, files=(first, clash))

    def test_file_name_that_pip_would_refuse(self) -> None:
        with self.assertRaisesRegex(wheel_manifest.ManifestError, "pip would refuse"):
            build_wheel.build(self.manifest, self.folder / "torch_cuda.whl")

    def test_missing_file_is_named(self) -> None:
        self.manifest.files[2].source.unlink()
        with self.assertRaisesRegex(wheel_manifest.ManifestError, "libfake.so, meant for"):
            build_wheel.build(self.manifest, self.folder / self.manifest.file_name)

    def test_manifest_with_an_unknown_field(self) -> None:
        path = self.folder / "manifest.json"
        path.write_text(json.dumps({"distribution": "x", "colour": "red"}), encoding="utf-8")
        with self.assertRaisesRegex(wheel_manifest.ManifestError, "colour"):
            wheel_manifest.load(path)


class CommandLineTest(absltest.TestCase):
    def test_manifest_from_json(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        manifest = fake_wheel.manifest(folder)
        fields = {
            **dataclasses.asdict(manifest),
            "files": [[str(file.source), file.path] for file in manifest.files],
            "license_files": [[str(file.source), file.path] for file in manifest.license_files],
            "description": str(manifest.description),
        }
        path = folder / "manifest.json"
        path.write_text(json.dumps(fields), encoding="utf-8")
        self.assertEqual(wheel_manifest.load(path), manifest)
        output = folder / manifest.file_name
        self.assertEqual(build_wheel.main(["--manifest", str(path), "--output", str(output)]), 0)
        self.assertTrue(zipfile.is_zipfile(output))


def _files(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _entry(wheel: pathlib.Path, name: str) -> zipfile.ZipInfo:
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (entry for entry in archive.infolist() if entry.filename.endswith(name))
        return entry


if __name__ == "__main__":
    absltest.main()
