"""The intra-file sites of a tree, held against the rows of docs/coverage/intra-file.md."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

from decouple.cpp import regions
from decouple.gaps import Gaps
from decouple.rules.load import Rules
from decouple.tree import Tree

# Folders of what is shipped, and folders that a row's path may be relative to.
_SCOPE = ("c10/", "aten/src/ATen/", "torch/csrc/")
_ROOTS = ("", "torch/csrc/", "torch/csrc/distributed/")
_TESTS = frozenset({"test", "tests"})
_SUFFIXES = (".c", ".cc", ".cpp", ".h", ".hpp", ".inl")
_ROW = re.compile(r"^\| `(?P<path>[^`]+)` \| (?P<guards>\d[^|]*) \|", re.MULTILINE)


def listed(document: str, tree: Tree) -> dict[str, frozenset[int]]:
    """The lines of guards that the document's tables list, by file.

    Args:
        document: its text. A row begins with a path in backquotes and the numbers of lines.
        tree: the tree that it speaks about.
    """
    found: dict[str, set[int]] = {}
    for row in _ROW.finditer(document):
        named = [root + row["path"] for root in _ROOTS if tree.has(root + row["path"])]
        path = named[0] if named else row["path"]
        found.setdefault(path, set()).update(int(n) for n in re.findall(r"\b\d+\b", row["guards"]))
    return {path: frozenset(lines) for path, lines in found.items()}


def guards(tree: Tree, rules: Rules, also: Container[str]) -> dict[str, frozenset[int]]:
    """The lines of all guards on the device's macros in files that are not the device's by name.

    Args:
        tree: the tree.
        rules: the device's rules.
        also: files to look at whatever their name: those that the document lists.
    """
    macro = re.compile(
        rb"\b(?:" + b"|".join(name.encode() for name in sorted(_names(rules))) + rb")\b"
    )
    found = {}
    for path in tree.files:
        if not path.startswith(_SCOPE) or not path.endswith(_SUFFIXES):
            continue
        if _is_named(path, rules) and path not in also:
            continue
        if not macro.search(tree.read_bytes(path)):
            continue
        lines = _guard_lines(tree.read_text(path), rules, path, macro, tree.gaps)
        if lines:
            found[path] = lines
    return found


def problems(
    expected: Mapping[str, frozenset[int]], rows: Mapping[str, frozenset[int]], tree: Tree
) -> list[str]:
    """What the document lacks, and what it lists that is gone; a line each.

    Args:
        expected: guards of the tree.
        rows: guards that the document lists.
        tree: the tree.
    """
    found = []
    for path in sorted(expected.keys() | rows.keys()):
        missing = expected.get(path, frozenset()) - rows.get(path, frozenset())
        gone = rows.get(path, frozenset()) - expected.get(path, frozenset())
        if missing:
            found.append(
                f"{path}: the guards at {_numbers(missing)} have no row in docs/coverage/intra-file.md"
            )
        if gone and not tree.has(path):
            found.append(f"{path}: is listed in docs/coverage/intra-file.md and not in the tree")
        elif gone:
            found.append(
                f"{path}: docs/coverage/intra-file.md lists {_numbers(gone)}, where no guard is"
            )
    return found


def _names(rules: Rules) -> Iterable[str]:
    return rules.macros.names | rules.macros.calls


def _is_named(path: str, rules: Rules) -> bool:
    """Whether a file is the device's, or a test's, by its path."""
    return bool(_TESTS.intersection(path.split("/"))) or any(
        rule.match(path) for rule in rules.files
    )


def _guard_lines(
    text: str, rules: Rules, path: str, macro: re.Pattern[bytes], gaps: Gaps
) -> frozenset[int]:
    """Lines of the directives that ask for a macro of the device."""
    return frozenset(
        branch.directive_first_line
        for region in regions.device_regions(text, rules.macros, path, gaps)
        for branch in region.branches
        if macro.search(branch.condition.encode())
    )


def _numbers(lines: Iterable[int]) -> str:
    return ", ".join(str(line) for line in sorted(lines))
