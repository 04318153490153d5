"""The package of a new device: what is written, and what is said when it cannot be."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import subprocess
from unittest import mock

from absl.testing import absltest, parameterized

from device.new import new

_TEMPLATE = pathlib.Path(new.__file__).parent / "template"
_FILES = {
    ".bazelignore",
    ".bazelrc",
    ".ci/run",
    ".github/workflows/ci.yml",
    ".gitignore",
    "BUILD.bazel",
    "MODULE.bazel",
    "README.md",
    "WORKSPACE.bzlmod",
    "device.c",
    "exports.map",
    "{name}_torch_device/__init__.py",
    "kernels.cpp",
    "operators.yaml",
    "training_test.py",
}


def _files(name: str) -> set[str]:
    return {file.format(name=name) for file in _FILES}


class NewTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.torch_cuda = self.folder / "checkout of torch_cuda"
        self.torch_cuda.mkdir()
        (self.torch_cuda / "bazelw").touch()

    def run_new(self, *arguments: str) -> tuple[int, str]:
        errors = io.StringIO()
        environ = {"BUILD_WORKING_DIRECTORY": str(self.folder)}
        with (
            mock.patch.dict(os.environ, environ),
            contextlib.redirect_stderr(errors),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            status = new.main([f"--torch_cuda={self.torch_cuda}", *arguments])
        return status, errors.getvalue()

    def written(self, name: str) -> dict[str, str]:
        self.assertEqual(self.run_new(name, "--out=device"), (0, ""))
        return new.read_template(self.folder / "device")

    def test_all_files_are_there(self) -> None:
        self.assertEqual(set(self.written("my_npu")), _files("my_npu"))

    def test_nothing_of_the_template_is_left(self) -> None:
        for path, text in self.written("my_npu").items():
            self.assertNotRegex(text, "(?i)acme", path)
            self.assertNotIn("@TORCH_CUDA@", text, path)
            self.assertNotIn("in the template", text, path)

    def test_nothing_but_the_names_is_changed(self) -> None:
        for path, text in self.written("my_npu").items():
            back = text.replace(str(self.torch_cuda), "@TORCH_CUDA@").replace("my_npu", "acme")
            path = path.replace("my_npu", "acme")
            source = next(
                p for p in (_TEMPLATE / path, _TEMPLATE / f"{path}.template") if p.exists()
            )
            self.assertStartsWith(source.read_text(), back.rstrip("\n"), path)

    def test_the_module_names_the_checkout(self) -> None:
        files = self.written("my_npu")
        self.assertIn(f'path = "{self.torch_cuda}"', files["MODULE.bazel"])
        self.assertIn(f"file://{self.torch_cuda}/third_party/registry", files[".bazelrc"])

    def test_what_ci_runs_can_be_run(self) -> None:
        self.written("my_npu")
        script = self.folder / "device" / ".ci" / "run"
        self.assertTrue(os.access(script, os.X_OK))
        subprocess.run(["sh", "-n", script], check=True)

    def test_what_the_workflow_checks_out_is_no_package(self) -> None:
        files = self.written("my_npu")
        folders = re.findall(r"^ +path: (\S+)$", files[".github/workflows/ci.yml"], re.MULTILINE)
        self.assertNotEmpty(folders)
        self.assertContainsSubset(folders, files[".bazelignore"].splitlines())

    @parameterized.parameters(
        "", "Npu", "1npu", "my-npu", "_npu", "npu_", "my__npu", "npu.x", "nüu", "a b", "x" * 65
    )
    def test_what_is_no_name(self, name: str) -> None:
        status, errors = self.run_new("--out=device", "--", name)
        self.assertEqual(status, 1)
        self.assertRegex(errors, "found (the|a) name")
        self.assertFalse((self.folder / "device").exists())

    @parameterized.parameters("class", "int", "namespace", "lambda", "aten", "fake", "sim", "torch")
    def test_names_that_are_taken(self, name: str) -> None:
        status, errors = self.run_new(name, "--out=device")
        self.assertEqual(status, 1)
        self.assertIn(f"{name!r}", errors)

    def test_a_folder_with_something_in_it_is_left_alone(self) -> None:
        (self.folder / "device").mkdir()
        (self.folder / "device" / "mine").write_text("mine")
        status, errors = self.run_new("npu", "--out=device")
        self.assertEqual(status, 1)
        self.assertRegex(errors, re.escape(str(self.folder / "device")) + ".*not empty")
        self.assertEqual([path.name for path in (self.folder / "device").iterdir()], ["mine"])

    def test_a_second_run_changes_nothing(self) -> None:
        first = self.written("npu")
        self.assertEqual(self.run_new("other", "--out=device")[0], 1)
        self.assertEqual(new.read_template(self.folder / "device"), first)

    def test_an_empty_folder_is_filled(self) -> None:
        (self.folder / "device").mkdir()
        self.assertEqual(set(self.written("npu")), _files("npu"))

    def test_folders_above_are_made(self) -> None:
        self.assertEqual(self.run_new("npu", "--out=a/b/c"), (0, ""))
        self.assertTrue((self.folder / "a/b/c/BUILD.bazel").is_file())

    def test_what_is_no_folder_is_left_alone(self) -> None:
        (self.folder / "file").write_text("mine")
        (self.folder / "link").symlink_to(self.folder / "nowhere")
        for out in ("file", "link", "file/below"):
            status, errors = self.run_new("npu", f"--out={out}")
            self.assertEqual(status, 1, out)
            self.assertIn("//device:new: ", errors)
        self.assertEqual((self.folder / "file").read_text(), "mine")

    def test_nothing_is_left_half_written(self) -> None:
        with mock.patch.object(pathlib.Path, "rename", side_effect=OSError("no space")):
            status, errors = self.run_new("npu", "--out=device")
        self.assertEqual(status, 1)
        self.assertIn("no space", errors)
        self.assertEqual(list(self.folder.iterdir()), [self.torch_cuda])

    def test_a_folder_inside_of_torch_cuda_is_refused(self) -> None:
        before = set(self.torch_cuda.iterdir())
        status, errors = self.run_new("npu", f"--out={self.torch_cuda / 'npu'}")
        self.assertEqual(status, 1)
        self.assertIn("inside of torch_cuda", errors)
        self.assertEqual(set(self.torch_cuda.iterdir()), before)

    def test_a_checkout_is_needed(self) -> None:
        status, errors = self.run_new("npu", "--out=device", "--torch_cuda=nowhere")
        self.assertEqual(status, 1)
        self.assertIn("--torch_cuda=CHECKOUT", errors)


if __name__ == "__main__":
    absltest.main()
