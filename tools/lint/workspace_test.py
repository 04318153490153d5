"""Which files the checks get to see."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path, PurePath
from unittest import mock

from absl.testing import absltest

from tools.lint import workspace


class FilesTest(absltest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.create_tempdir().full_path)
        for name in ("a.py", "sub/b.py", "ignored.py", ".gitignore", ".ci/run", "bazel-out/c.py"):
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("ignored.py\nbazel-*\n", encoding="utf-8")
        (self.folder / "link.py").symlink_to("a.py")

    def names(self) -> list[str]:
        """What `files` lists, as text."""
        return [str(path) for path in workspace.files(self.folder)]

    def git(self, *arguments: str) -> None:
        """Runs git in the folder."""
        subprocess.run(
            ["git", "-C", str(self.folder), "-c", "init.defaultBranch=main", *arguments],
            check=True,
            capture_output=True,
        )

    def test_git_lists_tracked_and_new_files_but_no_ignored_ones(self) -> None:
        self.git("init")
        self.git("add", "a.py")
        self.assertEqual(self.names(), [".ci/run", ".gitignore", "a.py", "sub/b.py"])

    def test_a_file_that_is_gone_from_the_disk_is_left_out(self) -> None:
        self.git("init")
        self.git("add", "a.py")
        (self.folder / "a.py").unlink()
        self.assertEqual(self.names(), [".ci/run", ".gitignore", "sub/b.py"])

    def test_without_git_the_folder_is_walked(self) -> None:
        # The folder of the test may itself lie in a repository.
        with mock.patch.dict(os.environ, {"GIT_CEILING_DIRECTORIES": str(self.folder.parent)}):
            listed = self.names()
        self.assertEqual(listed, [".ci/run", ".gitignore", "a.py", "ignored.py", "sub/b.py"])


class RootTest(absltest.TestCase):
    def test_bazel_run_names_it(self) -> None:
        folder = self.create_tempdir()
        folder.create_file("pyproject.toml")
        with mock.patch.dict(os.environ, {"BUILD_WORKSPACE_DIRECTORY": folder.full_path}):
            self.assertEqual(workspace.root(), Path(folder.full_path))

    def test_another_folder_is_refused_with_what_to_do(self) -> None:
        folder = self.create_tempdir().full_path
        with (
            mock.patch.dict(os.environ, {"BUILD_WORKSPACE_DIRECTORY": folder}),
            self.assertRaisesRegex(workspace.WorkspaceError, "TestRunner=local"),
        ):
            workspace.root()


class KindTest(absltest.TestCase):
    def test_starlark_is_told_by_name(self) -> None:
        for name in ("BUILD", "a/BUILD.bazel", "x.bzl", "pytorch.BUILD", "MODULE.bazel"):
            self.assertTrue(workspace.is_starlark(PurePath(name)), name)
        for name in ("BUILDER", "x.py", ".bazelrc"):
            self.assertFalse(workspace.is_starlark(PurePath(name)), name)

    def test_cuda_is_cpp(self) -> None:
        self.assertTrue(workspace.is_cpp(PurePath("a/b.cu")))
        self.assertFalse(workspace.is_cpp(PurePath("a/b.py")))

    def test_shell_is_told_by_suffix_or_first_line(self) -> None:
        folder = self.create_tempdir()
        is_shell = workspace.shell_test(Path(folder.full_path))
        for first_line in ("#!/bin/sh", "#! /bin/bash -e", "#!/usr/bin/env bash"):
            folder.create_file("script", first_line + "\n")
            self.assertTrue(is_shell(PurePath("script")), first_line)
        for first_line in ("#!/usr/bin/env python3", "", "bash"):
            folder.create_file("script", first_line + "\n")
            self.assertFalse(is_shell(PurePath("script")), first_line)
        self.assertTrue(is_shell(PurePath("anything.sh")))


if __name__ == "__main__":
    absltest.main()
