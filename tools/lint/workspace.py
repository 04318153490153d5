"""Which files there are to check: the workspace on disk, not what Bazel was told about.

A test sees only its declared inputs, so a file that no BUILD file names would never be checked.
The checks therefore run on the real workspace, found through this file's own place in it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path, PurePath

CPP_SUFFIXES = (".cc", ".cpp", ".cu", ".cuh", ".h")
STARLARK_SUFFIXES = (".bazel", ".bzl", ".BUILD")
_SHELLS = (b"sh", b"bash", b"dash")


class WorkspaceError(Exception):
    """The workspace cannot be found or read; the text says what to do."""


def root() -> Path:
    """The root of the workspace on disk.

    Under `bazel run` Bazel names it. In a test it is where the runfiles' symbolic link to this file
    leads; that holds for tests that run on this machine (the tag "local").

    Raises:
        WorkspaceError: the link does not lead into a workspace, as in remote execution.
    """
    named = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    found = Path(named) if named else Path(__file__).resolve().parents[2]
    if not (found / "pyproject.toml").is_file():
        raise WorkspaceError(
            f"{found} is not the root of the workspace (it has no pyproject.toml). The lint checks "
            "read the sources on disk: run them on this machine, with --strategy=TestRunner=local"
        )
    return found


def files(workspace: Path) -> list[PurePath]:
    """All files that are, or could be, committed, relative to `workspace` and sorted.

    Asks git, which knows what is ignored; a copy without git's folder (an unpacked archive) is
    walked instead, without folders that start with "." or "bazel-". Symbolic links and files
    that git knows but that are gone from the disk are left out.
    """
    command = ["git", "-c", f"safe.directory={workspace}", "-C", str(workspace), "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = _walk(workspace)
    paths = (workspace / name for name in set(names))
    present = [path for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(path.relative_to(workspace) for path in present)


def _walk(workspace: Path) -> list[str]:
    names = []
    for folder, folders, here in os.walk(workspace):
        # .ci is ours, .git and an editor's folders are not.
        folders[:] = [
            name
            for name in folders
            if name == ".ci" or not name.startswith((".", "bazel-", "__pycache__"))
        ]
        names += [os.path.relpath(Path(folder, name), workspace) for name in here]
    return names


def is_python(path: PurePath) -> bool:
    """Whether it is Python source or a stub."""
    return path.suffix in (".py", ".pyi")


def is_cpp(path: PurePath) -> bool:
    """Whether it is C++ or CUDA source or a header."""
    return path.suffix in CPP_SUFFIXES


def is_starlark(path: PurePath) -> bool:
    """Whether Bazel reads it as Starlark; BUILD overlays such as pytorch.BUILD count."""
    return path.name == "BUILD" or path.suffix in STARLARK_SUFFIXES


def shell_test(workspace: Path) -> Callable[[PurePath], bool]:
    """Makes the test whether a file is a shell script: by its name, or by its first line."""

    def is_shell(path: PurePath) -> bool:
        if path.suffix:
            return path.suffix == ".sh"
        with (workspace / path).open("rb") as file:
            words = file.readline(200).split()
        if not words or not words[0].startswith(b"#!"):
            return False
        # "#!/bin/sh", "#! /bin/sh" and "#!/usr/bin/env sh" all name the shell somewhere.
        return any(word.rpartition(b"/")[2].lstrip(b"#!") in _SHELLS for word in words[:3])

    return is_shell
