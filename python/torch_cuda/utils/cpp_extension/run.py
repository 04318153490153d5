"""Runs the commands of a build: with ninja, in parallel and only what is out of date; else in turn."""

from __future__ import annotations

import os
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence

from torch_cuda.utils.cpp_extension.commands import Command

BUILD_FILE = "build.ninja"


def ninja_file(commands: Sequence[Command]) -> str:
    """The text of a ninja file that runs commands.

    Each command is a build statement of one rule: which program compiles what is no concern of the
    file (https://ninja-build.org/manual.html#_writing_your_own_ninja_files).

    Args:
      commands: each writes a file that no other writes.

    Returns:
      The text.
    """
    lines = ["ninja_required_version = 1.3", ""]
    for name, dependencies in (
        ("run", []),
        ("run_with_depfile", ["depfile = $depfile", "deps = gcc"]),
    ):
        lines += [f"rule {name}", "  command = $line", "  description = $label"]
        lines += [f"  {line}" for line in dependencies] + [""]
    for command in commands:
        rule = "run" if command.depfile is None else "run_with_depfile"
        inputs = " ".join(_escaped_path(path) for path in command.inputs)
        lines.append(f"build {_escaped_path(command.output)}: {rule} {inputs}")
        lines.append(f"  line = {_escaped(shlex.join(command.arguments))}")
        lines.append(f"  label = {_escaped(command.label)}")
        if command.depfile is not None:
            lines.append(f"  depfile = {_escaped(str(command.depfile))}")
        lines.append("")
    return "\n".join(lines)


def with_ninja(
    commands: Sequence[Command], folder: pathlib.Path, error: str, *, verbose: bool
) -> None:
    """Runs what is out of date, in parallel: as many at a time as ``MAX_JOBS`` says, or as ninja does.

    Args:
      commands: to run; one that needs another's output names it as an input.
      folder: to run in; ninja's files go there.
      error: begins the message if a command fails.
      verbose: print the commands and what they print; else it is shown if one fails.

    Raises:
      RuntimeError: a command failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_if_changed(folder / BUILD_FILE, ninja_file(commands))
    _run(["ninja", "-v", *_jobs(os.environ)], folder, error, verbose=verbose)


def in_turn(
    commands: Sequence[Command], folder: pathlib.Path, error: str, *, verbose: bool
) -> None:
    """Runs all commands, one after the other; the arguments are those of `with_ninja`.

    Raises:
      RuntimeError: a command failed; those after it are not run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for command in commands:
        if verbose:
            print(shlex.join(command.arguments), flush=True)
        _run(command.arguments, folder, error, verbose=verbose)


def write_if_changed(path: pathlib.Path, text: str) -> None:
    """Writes a file unless it has this text already, so that its users are not built again."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _jobs(environ: Mapping[str, str]) -> list[str]:
    jobs = environ.get("MAX_JOBS", "")
    return ["-j", jobs] if jobs.isdigit() else []


def _run(arguments: Sequence[str], folder: pathlib.Path, error: str, *, verbose: bool) -> None:
    # What Python has buffered comes before what the compilers print.
    sys.stdout.flush()
    sys.stderr.flush()
    done = subprocess.run(
        arguments,
        cwd=folder,
        # setuptools may have replaced sys.stdout; 1 is what the user sees.
        stdout=1 if verbose else subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        output = (done.stdout or b"").decode(errors="replace").strip()
        raise RuntimeError(f"{error}: {output}" if output else error)


def _escaped(text: str) -> str:
    return text.replace("$", "$$").replace("\n", " ")


def _escaped_path(path: pathlib.Path) -> str:
    return _escaped(str(path)).replace(" ", "$ ").replace(":", "$:")
