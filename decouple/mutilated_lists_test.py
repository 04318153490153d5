"""Upstream's lists, broken at random: never a traceback, never silence.

Argument: build_variables.bzl at the top of the PyTorch sources.
"""

from __future__ import annotations

import dataclasses
import pathlib
import random
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from absl.testing import absltest

from decouple import scan
from decouple.gaps import Gap, Gaps
from decouple.lists import cmake
from decouple.rules.load import load
from decouple.tree import Tree

ROOT = pathlib.Path(sys.argv.pop(1)).resolve().parent
RULES = load("cuda")
DEFINITIONS = {**RULES.definitions, **RULES.device_definitions}
# Files that a run reads: where units are listed, where targets are made, and what both use.
CMAKE_FILES = (
    "aten/CMakeLists.txt",
    "aten/src/ATen/CMakeLists.txt",
    "c10/CMakeLists.txt",
    "c10/cuda/CMakeLists.txt",
    "caffe2/CMakeLists.txt",
    "cmake/Codegen.cmake",
    "cmake/public/utils.cmake",
)
SEED = 20260
Lists = dict[str, tuple[str, ...]]
Mutilation = Callable[[random.Random, str], str]


class _Changed(Tree):
    """The tree with another content of some files."""

    changes: dict[str, bytes]

    def read_bytes(self, path: str, affects: Iterable[str] = ()) -> bytes:
        return self.changes.get(path) or super().read_bytes(path, affects)


WHOLE = _Changed(ROOT)
WHOLE.changes = {}
_ = WHOLE.files  # listed once for all


def _changed(path: str, content: bytes) -> tuple[_Changed, Gaps]:
    gaps = Gaps()
    tree = WHOLE.reporting_to(gaps)
    assert isinstance(tree, _Changed)
    tree.changes = {path: content}
    return tree, gaps


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# --- ways to break a file --------------------------------------------------------------------


def _at(text: str, position: int, length: int, new: str) -> str:
    return text[:position] + new + text[position + length :]


def _code(text: str) -> list[int]:
    """Where lines begin that are no comments and not empty."""
    return [m.start() for m in re.finditer(r"^[ \t]*[^#\s]", text, re.MULTILINE)]


def _one_of(rng: random.Random, text: str, pattern: str) -> re.Match[str]:
    """A match in a line that is no comment."""
    found = [
        match
        for match in re.finditer(pattern, text)
        if "#" not in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    ]
    return rng.choice(found)


def delete(pattern: str) -> Mutilation:
    """Deletes a token."""

    def apply(rng: random.Random, text: str) -> str:
        match = _one_of(rng, text, pattern)
        return _at(text, match.start(), len(match[0]), "")

    return apply


def double(pattern: str) -> Mutilation:
    """Writes a token twice."""

    def apply(rng: random.Random, text: str) -> str:
        match = _one_of(rng, text, pattern)
        return _at(text, match.end(), 0, f" {match[0]}")

    return apply


def insert(*lines: str) -> Mutilation:
    """Inserts a line."""
    return lambda rng, text: _at(text, rng.choice(_code(text)), 0, f"{rng.choice(lines)}\n")


def cut_inside(opening: str, closing: str) -> Mutilation:
    """Cuts the file off where something is open."""

    def apply(rng: random.Random, text: str) -> str:
        match = _one_of(rng, text, re.escape(opening))
        end = text.index(closing, match.end())
        return text[: rng.randint(match.end(), end)]

    return apply


def bad_bytes(rng: random.Random, text: str) -> str:
    """Writes bytes that are not UTF-8 somewhere."""
    position = rng.randrange(len(text))
    return _at(text, position, rng.randint(0, 1), rng.choice(("\udcff", "\udcc3(")))


STARLARK: dict[str, Mutilation] = {
    "a bracket is missing": delete(r"[\[\]()]"),
    "a bracket is there twice": double(r"[\[\]()]"),
    "a quote is missing": delete(r'"'),
    "any token is missing": delete(r'\w+|"[^"\n]*"|[^\w\s"#]'),
    "any token is there twice": double(r'\w+|"[^"\n]*"|[^\w\s"#]'),
    "a line is none": insert("]", "x = [", "def", "}{", "0 = 1", "\0", "@", "'''"),
    "something unknown is called": insert("nowhere()", "x = nowhere.read_config('a', 'b')"),
    "something is no Starlark": insert("import os", "class A: pass", "while True: pass"),
    "it ends in a list": cut_inside("[", "]"),
    "bytes are not UTF-8": bad_bytes,
}
CMAKE: dict[str, Mutilation] = {
    "a parenthesis is missing": delete(r"[()]"),
    "a parenthesis is there twice": double(r"[()]"),
    "a quote is missing": delete(r'(?<!\\)"'),
    "the name of a command is missing": delete(r"(?m)^[ \t]*\w+(?=[ \t]*\()"),
    "the name of a command is there twice": double(r"(?m)^[ \t]*\w+(?=[ \t]*\()"),
    "a block is not closed": delete(r"(?m)^[ \t]*end(?:if|foreach|macro|function)[ \t]*\([^)]*\)"),
    "a block is closed twice": double(r"(?m)^[ \t]*endif[ \t]*\([^)]*\)"),
    "a reference is not closed": delete(r"(?<=\w)\}"),
    "a line is none": insert(")", "set(", "endif()", "(", '"', "a b", "else()", "[==["),
    "something unknown is called": insert("nowhere(SRCS x.cpp)", "append_filelists(a b)"),
    "it ends in a command": cut_inside("(", ")"),
    "bytes are not UTF-8": bad_bytes,
}


def _of_the_tree(found: cmake.Configuration) -> cmake.Configuration:
    """Without what the build would have to write: a word that is no file may be one of those."""
    order = {
        name: tuple(path for path in paths if path in found.targets[name])
        for name, paths in found.order.items()
    }
    return dataclasses.replace(found, order=order)


def _python_lists(text: str) -> Lists | None:
    """What Python makes of a .bzl file; None where that is an error."""
    scope: dict[str, Any] = {"load": lambda *_names: None}
    try:
        exec(compile(text, "lists", "exec"), scope)  # noqa: S102 - a changed file of upstream's
    except Exception:  # noqa: BLE001 - whatever was broken
        return None
    return {
        name: tuple(value)
        for name, value in scope.items()
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    }


class MutilatedListsTest(absltest.TestCase):
    def _starlark(self, text: str) -> tuple[Lists, tuple[Gap, ...]]:
        tree, gaps = _changed(scan.FILELISTS, _bytes(text))
        return scan.filelists(tree), gaps.all()

    def _cmake(self, path: str, text: str) -> tuple[cmake.Configuration, tuple[Gap, ...]]:
        tree, gaps = _changed(path, _bytes(text))
        names = scan.filelists(WHOLE)
        found = cmake.configure(tree, RULES.cmake_files, DEFINITIONS, names, RULES.optional)
        return found, gaps.all()

    def test_lists_of_starlark(self) -> None:
        text = WHOLE.read_text(scan.FILELISTS)
        whole, gaps = self._starlark(text)
        self.assertEmpty(gaps)
        self.assertEqual(whole, _python_lists(text))
        rng = random.Random(SEED)
        lost = []
        for name, mutilate in STARLARK.items():
            for number in range(12):
                broken = mutilate(rng, text)
                with self.subTest(name, number=number):
                    found, gaps = self._starlark(broken)
                    # What is still Python says something else, and that has to be found.
                    if found != whole and not gaps:
                        self.assertEqual(found, _python_lists(broken))
                    lost.append(len([key for key in whole if found.get(key) != whole[key]]))
        # A statement is lost and not the file: of these lists, few are others on average.
        self.assertLess(sum(lost) / len(lost), len(whole) / 4)

    def test_lists_of_cmake(self) -> None:
        rng = random.Random(SEED)
        whole, gaps = self._cmake("nothing", "")
        self.assertEmpty(gaps)
        units = whole.sources()
        kept = []
        for name, mutilate in CMAKE.items():
            for path in rng.sample(CMAKE_FILES, 3):
                text = WHOLE.read_text(path)
                try:
                    broken = mutilate(rng, text)
                except IndexError:  # nothing of the kind is in the file
                    continue
                with self.subTest(name, path=path):
                    found, gaps = self._cmake(path, broken)
                    self.assertTrue(_of_the_tree(found) == _of_the_tree(whole) or gaps, "silence")
                    kept.append(len(units & found.sources()) / len(units))
        self.assertGreater(sum(kept) / len(kept), 0.8)


if __name__ == "__main__":
    absltest.main()
