"""Which sources clang_tidy.py takes, and what it makes of clang-tidy's output. The tool itself is not run."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from pathlib import Path, PurePath
from unittest import mock

from absl.testing import absltest

from tools.lint import clang_tidy

_WARNING = "{}:1:2: warning: something [bugprone-thing]\n    1 | int x;\n      |   ^\n"


class SelectedTest(absltest.TestCase):
    files = tuple(map(PurePath, ("a/b.cpp", "a/b.h", "a/c/d.cc", "a/e.cu", "ab/f.cpp", "g.py")))

    def selected(self, *asked: str) -> list[str]:
        return [str(path) for path in clang_tidy.selected(self.files, [*map(PurePath, asked)])]

    def test_a_file_and_a_folder(self) -> None:
        self.assertEqual(self.selected("a/b.cpp"), ["a/b.cpp"])
        self.assertEqual(self.selected("a"), ["a/b.cpp", "a/c/d.cc"])
        self.assertEqual(self.selected("ab", "a/c"), ["a/c/d.cc", "ab/f.cpp"])
        self.assertEqual(self.selected("."), ["a/b.cpp", "a/c/d.cc", "ab/f.cpp"])

    def test_what_has_no_source_is_named(self) -> None:
        for path in ("a/e.cu", "g.py", "nowhere", "../a"):
            with self.assertRaisesRegex(ValueError, f"no C.. source in {path}"):
                self.selected("a", path)


class FindingsTest(absltest.TestCase):
    def test_a_header_of_two_sources_is_told_once(self) -> None:
        header, other = _WARNING.format("h.h"), _WARNING.format("a.cpp")
        found = list(clang_tidy.findings([header + other, "", header]))
        self.assertEqual(found, [header.strip(), other.strip()])

    def test_what_is_no_finding_is_told_too(self) -> None:
        self.assertEqual(list(clang_tidy.findings(["it crashed\n"])), ["it crashed"])


class MainTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = Path(self.create_tempdir().full_path)
        (self.root / "pyproject.toml").touch()
        (self.root / "a").mkdir()
        (self.root / "a/b.cpp").touch()

    def run_it(self, script: str, *arguments: str) -> tuple[int, str]:
        """Runs the program with a script as the tool."""
        tool = self.root / "tool"
        tool.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
        variables = {
            "BUILD_WORKSPACE_DIRECTORY": str(self.root),
            "BUILD_WORKING_DIRECTORY": str(self.root / "a"),
            "LINT_CLANG_TIDY": str(tool),
            "LINT_CUDA_MACROS": str(self.root / "made/c10/cuda/impl/cuda_cmake_macros.h"),
        }
        with (
            mock.patch.dict(os.environ, variables),
            contextlib.redirect_stdout(io.StringIO()) as said,
        ):
            return clang_tidy.main(arguments), said.getvalue()

    def test_a_source_is_checked_in_the_root(self) -> None:
        status, said = self.run_it('test "$2" = a/b.cpp || echo "$2"', "b.cpp")
        self.assertEqual((status, said), (0, "1 sources checked, 0 findings\n"))

    def test_a_finding_fails(self) -> None:
        status, said = self.run_it("echo 'a/b.cpp:1:2: warning: x [y]'; echo noise >&2", ".")
        self.assertEqual(status, 1)
        self.assertEqual(said, "a/b.cpp:1:2: warning: x [y]\n1 sources checked, 1 findings\n")

    def test_a_tool_that_cannot_start_fails(self) -> None:
        status, said = self.run_it("echo broken >&2; exit 3", ".")
        self.assertEqual(status, 1)
        self.assertStartsWith(said, "broken\n")

    def test_more_headers_are_passed_on(self) -> None:
        said = self.run_it('echo "$@"', ".", "--include=x")[1]
        self.assertIn(f"-isystem {self.root}/a/x -isystem {self.root}/made", said)


if __name__ == "__main__":
    absltest.main()
