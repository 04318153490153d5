"""The rules for files that no off-the-shelf tool checks: sizes, heads, names of machines, structure.

A rule of `RULES` is a function from one file to its faults, one of `TOGETHER` from all files (they
are in structure.py); `check` applies them and takes off what exceptions.toml allows. The tools that
check a language are in checks.py.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from tools.lint import structure, workspace

MAX_BYTES = 512 * 1024
MAX_LINES = 500
_COUNTED_SUFFIXES = (*workspace.CPP_SUFFIXES, ".bzl", ".py", ".pyi", ".sh")
_PATCH_SUFFIXES = (".diff", ".patch")

# Folders that are on one machine only: the homes, and /work as build services call theirs.
# What comes before must not make it the end of a longer path, as in "$ROOT/work/"; nobody lives in
# /home/me, /home/user and /home/you.
_MACHINE_PATH = re.compile(r"(?<![\w.})*/-])/(?:root|work|home(?!/(?:me|user|you)\b))/[\w.]")


@dataclass(frozen=True)
class SourceFile:
    """One file to check.

    Attributes:
        path: relative to the root of the workspace.
        content: the bytes on disk.
    """

    path: PurePath
    content: bytes

    def text(self) -> str | None:
        """The content as text, or None for a binary file."""
        if b"\0" in self.content:
            return None
        try:
            return self.content.decode("utf-8")
        except UnicodeDecodeError:
            return None


@dataclass(frozen=True)
class Machine:
    """What must not be named in any file.

    Attributes:
        hosts: finds the hosts of the configured mirrors; None where there are none.
        folders: absolute paths of this machine, such as the workspace's own.
    """

    hosts: re.Pattern[str] | None = None
    folders: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Fault:
    """A file or folder that breaks a rule: `path: [rule] what`."""

    path: str
    rule: str
    what: str

    def __str__(self) -> str:
        """The line that the developer reads."""
        return f"{self.path}: [{self.rule}] {self.what}"


@dataclass(frozen=True)
class Allowed:
    """An entry of exceptions.toml: this file or folder may break this rule, for this reason."""

    path: str
    rule: str
    reason: str


def _size(file: SourceFile, _: Machine) -> Iterator[str]:
    if len(file.content) > MAX_BYTES:
        yield f"{len(file.content)} bytes; at most {MAX_BYTES} are good in a repository of sources"


def _binary(file: SourceFile, _: Machine) -> Iterator[str]:
    if file.text() is None:
        yield "not text (UTF-8); build or fetch it instead"


def _lines(file: SourceFile, _: Machine) -> Iterator[str]:
    count = len(file.content.splitlines())
    if file.path.suffix in _COUNTED_SUFFIXES and count > MAX_LINES:
        yield f"{count} lines, more than {MAX_LINES}: is it one concept? {structure.OVERRULE}"


def _head(file: SourceFile, _: Machine) -> Iterator[str]:
    text = file.text()
    if not text or not text.strip():
        return  # An empty __init__.py has nothing to explain.
    if file.path.suffix == ".py":
        try:
            described = ast.get_docstring(ast.parse(text)) is not None
        except SyntaxError:
            return  # ruff says where.
    elif workspace.is_cpp(file.path):
        first = text.replace("#pragma once", "", 1).lstrip()
        # What implements a header begins with it, and the header says what lives in both.
        header = f'#include "{file.path.with_suffix(".h").as_posix()}"'
        described = first.startswith(("//", "/*", header))
    elif workspace.is_starlark(file.path) and file.path.name not in ("MODULE.bazel", "REPO.bazel"):
        described = text.lstrip().startswith(("#", '"""'))
    elif file.path.suffix == ".sh":
        described = re.match(r"(#!.*\n\s*)?#(?!!)", text) is not None
    else:
        return
    if not described:
        yield "the head does not say what lives here; begin with a docstring or comment"


def _hosts(file: SourceFile, machine: Machine) -> Iterator[str]:
    # The name itself is not repeated: the log of a test may be public.
    if machine.hosts:
        for number, line in enumerate((file.text() or "").splitlines(), start=1):
            if machine.hosts.search(line):
                yield f"line {number} names a mirror that only this machine is configured with"


def _machine_paths(file: SourceFile, machine: Machine) -> Iterator[str]:
    for number, line in enumerate((file.text() or "").splitlines(), start=1):
        if _MACHINE_PATH.search(line) or any(folder in line for folder in machine.folders):
            yield f"line {number} has an absolute path of one machine: {line.strip()[:80]}"


def _whitespace(file: SourceFile, _: Machine) -> Iterator[str]:
    text = file.text()
    if text is not None and tidy(file.path, text) != text:
        yield "blanks at the end of a line, CR, or no single newline at the end of the file"


RULES: dict[str, Callable[[SourceFile, Machine], Iterator[str]]] = {
    "binary": _binary,
    "head": _head,
    "hosts": _hosts,
    "lines": _lines,
    "machine-paths": _machine_paths,
    "size": _size,
    "whitespace": _whitespace,
}


def _circles(sources: Sequence[SourceFile]) -> Iterator[tuple[PurePath, str]]:
    code = (source for source in sources if source.path.suffix in _COUNTED_SUFFIXES)
    return structure.circles({source.path: source.text() or "" for source in code})


def _full_folders(sources: Sequence[SourceFile]) -> Iterator[tuple[PurePath, str]]:
    return structure.full_folders(source.path for source in sources)


def _undescribed_folders(sources: Sequence[SourceFile]) -> Iterator[tuple[PurePath, str]]:
    return structure.undescribed_folders(source.path for source in sources)


def _misplaced_names(sources: Sequence[SourceFile]) -> Iterator[tuple[PurePath, str]]:
    code = {source.path: source.text() or "" for source in sources if workspace.is_cpp(source.path)}
    return structure.misplaced_names(code, (source.path for source in sources))


TOGETHER: dict[str, Callable[[Sequence[SourceFile]], Iterator[tuple[PurePath, str]]]] = {
    "circle": _circles,
    "full-folder": _full_folders,
    "misplaced-name": _misplaced_names,
    "readme": _undescribed_folders,
}


def tidy(path: PurePath, text: str) -> str:
    """The text as the rule "whitespace" wants it; patches keep theirs."""
    if path.suffix in _PATCH_SUFFIXES or not text:
        return text
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join(lines).rstrip("\n") + "\n"


def load_exceptions(file: Path) -> list[Allowed]:
    """Reads exceptions.toml.

    Raises:
        ValueError: an entry lacks something or names a rule that there is not.
    """
    entries = tomllib.loads(file.read_text(encoding="utf-8")).get("exception", [])
    allowed = []
    for entry in entries:
        if set(entry) != {"path", "rule", "reason"} or not entry["reason"].strip():
            raise ValueError(f"{file.name}: an exception has path, rule and reason: {entry}")
        if entry["rule"] not in {*RULES, *TOGETHER}:
            known = ", ".join([*RULES, *TOGETHER])
            raise ValueError(f"{file.name}: no rule {entry['rule']!r}; there are {known}")
        allowed.append(Allowed(**entry))
    return allowed


def check(
    sources: Iterable[SourceFile], machine: Machine, exceptions: Iterable[Allowed]
) -> list[Fault]:
    """All faults of the sources that no exception allows, and the exceptions that nothing needs."""
    unused = {(entry.path, entry.rule) for entry in exceptions}
    allowed = set(unused)
    sources = list(sources)
    found = [
        Fault(source.path.as_posix(), name, what)
        for source in sources
        for name, rule in RULES.items()
        for what in rule(source, machine)
    ]
    found += [
        Fault(path.as_posix(), name, what)
        for name, together in TOGETHER.items()
        for path, what in together(sources)
    ]
    faults = [fault for fault in found if (fault.path, fault.rule) not in allowed]
    unused -= {(fault.path, fault.rule) for fault in found}
    for path, rule_name in sorted(unused):
        faults.append(Fault(path, rule_name, "is no longer broken; remove it from exceptions.toml"))
    return faults
