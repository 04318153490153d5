"""The tools that check one language each: which files they get and how they are called.

`CHECKS` is the table; check.py runs one entry as a test, fix.py runs all that can repair. Where the
binaries come from is told in third_party/lint.
"""

from __future__ import annotations

import itertools
import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from tools.lint import workspace

Commands = Callable[[Sequence[PurePath]], list[list[str]]]


class ToolError(Exception):
    """A tool is missing or has nothing to do; the text says what to do."""


def _nothing(_: Sequence[PurePath]) -> list[list[str]]:
    return []


@dataclass(frozen=True)
class Check:
    """How one kind of file is checked.

    Attributes:
        kind: what the files are, for messages.
        selects: makes, for a workspace, the test whether a file is of this kind.
        commands: makes, for some files, the commands that fail where something is wrong.
        fixes: makes the commands that repair what can be repaired; none by default.
    """

    kind: str
    selects: Callable[[Path], Callable[[PurePath], bool]]
    commands: Commands
    fixes: Commands = _nothing


def tool(name: str) -> str:
    """The path of a fetched binary, or of another file of the build, which BUILD.bazel puts in the variable LINT_<NAME>.

    Raises:
        ToolError: not started by Bazel, so there are no binaries.
    """
    variable = f"LINT_{name.upper()}"
    if variable not in os.environ:
        raise ToolError(
            f"{variable} is not set: Bazel fetches {name} and names its place. "
            "Type ./bazelw test //tools/lint/... or ./bazelw run //tools/lint:fix"
        )
    # `bazel run` names no RUNFILES_DIR, but this file is in there as _main/tools/lint/checks.py.
    runfiles = os.environ.get("RUNFILES_DIR") or Path(__file__).absolute().parents[3]
    # Absolute, because the commands run in the root of the workspace.
    return str(Path(runfiles, os.environ[variable]).absolute())


def _calls(*commands: tuple[str, ...]) -> Commands:
    """Commands that begin with the name of a tool and end with the names of the files."""
    return lambda files: [[tool(name), *options, *map(str, files)] for name, *options in commands]


def module_name(path: PurePath) -> str | None:
    """The name by which a Python file is imported, or None where it cannot be imported.

    The root of the workspace is on Python's path. Packages of wheels (torch_cuda and its kin, torch_pu,
    torch_stand_in) are at the top there, so they are imported by that name although they live in folders `python`.
    """
    parts = path.with_suffix("").parts
    for place, (folder, package) in enumerate(itertools.pairwise(parts), 1):
        if folder == "python" and package.startswith(("torch_cuda", "torch_pu", "torch_stand_in")):
            parts = parts[place:]
            break
    if len(parts) > 1 and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else None


def _mypy(files: Sequence[PurePath]) -> list[list[str]]:
    # Without a cache that lasts, reading torch's types takes 20 s; with it, the check takes 3 s.
    # HOME is not set in a test, and a test's own folder does not last.
    home = pwd.getpwuid(os.getuid()).pw_dir
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path(home, ".cache"), "torch_cuda", "mypy")
    mypy = [sys.executable, "-m", "mypy", f"--cache-dir={cache}"]
    # By module and not by file: from a file's name, mypy guesses a module's name of its own, and
    # then finds the same file again under the name by which it is imported.
    names = {path: module_name(path) for path in files}
    modules = sorted({name for name in names.values() if name})
    scripts = [str(path) for path, name in names.items() if not name]
    commands = [[*mypy, *(part for module in modules for part in ("-m", module))]]
    # Scripts are not imported, so they cannot clash; each is a module called __main__.
    commands += [[*mypy, "--scripts-are-modules", script] for script in scripts]
    return commands if modules else commands[1:]


CHECKS: dict[str, Check] = {
    "ruff": Check(
        kind="Python",
        selects=lambda _: workspace.is_python,
        commands=_calls(
            ("ruff", "check", "--no-cache", "--quiet"),
            ("ruff", "format", "--no-cache", "--quiet", "--diff"),
        ),
        fixes=_calls(
            # What cannot be repaired is for the test to tell.
            ("ruff", "check", "--no-cache", "--quiet", "--fix-only"),
            ("ruff", "format", "--no-cache", "--quiet"),
        ),
    ),
    "mypy": Check(
        kind="Python",
        selects=lambda _: workspace.is_python,
        commands=_mypy,
    ),
    "clang_format": Check(
        kind="C++",
        selects=lambda _: workspace.is_cpp,
        commands=_calls(("clang_format", "--dry-run", "--Werror")),
        fixes=_calls(("clang_format", "-i")),
    ),
    "starlark": Check(
        kind="Starlark",
        selects=lambda _: workspace.is_starlark,
        commands=_calls(("buildifier", "-lint=warn", "-mode=check")),
        fixes=_calls(("buildifier", "-lint=fix", "-mode=fix")),
    ),
    "shellcheck": Check(
        kind="shell",
        selects=workspace.shell_test,
        commands=_calls(
            (
                "shellcheck",
                "--external-sources",
                "--source-path=SCRIPTDIR",
                "--severity=info",
                # "A && B || C" and a $ in single quotes are mostly what was meant.
                "--exclude=SC2015,SC2016",
            )
        ),
    ),
}


def test(check: Check, root: Path) -> str:
    """Runs a check on all files of its kind in the workspace.

    Returns:
        What the failing commands printed; empty where none failed.

    Raises:
        ToolError: there is no file of that kind, so nothing would be checked.
    """
    files = _files(check, root)
    if not files:
        raise ToolError(f"no {check.kind} file found in {root}; the list of files must be wrong")
    return _run(check.commands(files), root)


def fix(check: Check, root: Path) -> str:
    """Repairs the files of a check's kind, if there are any; returns what failing commands print."""
    files = _files(check, root)
    return _run(check.fixes(files), root) if files else ""


def _files(check: Check, root: Path) -> list[PurePath]:
    return list(filter(check.selects(root), workspace.files(root)))


def _run(commands: list[list[str]], root: Path) -> str:
    failures = []
    for command in commands:
        done = subprocess.run(
            command,
            cwd=root,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            failures.append(done.stdout.strip() or f"{command[0]} failed: {done.returncode}")
    return "\n".join(failures)
