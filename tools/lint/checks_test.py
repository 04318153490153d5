"""Each tool accepts a clean file under our configuration, and refuses one with a fault."""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePath
from unittest import mock

from absl.testing import absltest, parameterized

from tools.lint import checks, workspace

CONFIGURATION = ("pyproject.toml", ".clang-format")

CLEAN = {
    "ruff": ("clean.py", '"""Says what."""\n\nX = "a"\n'),
    "mypy": ("clean.py", '"""Says what."""\n\nX: int = 1\n'),
    "clang_format": ("clean.cpp", "// Says what.\nint f() {\n  return 1;\n}\n"),
    "starlark": ("clean.bzl", '"""Says what."""\n\nX = "a"\n'),
    "shellcheck": ("clean.sh", '#!/bin/sh\necho "$1"\n'),
}

BROKEN = (
    ("ruff", "broken.py", '"""Says what."""\n\nimport os\n'),
    ("ruff", "broken.py", '"""Says what."""\n\nX = \'a\'\n'),
    ("ruff", "broken.py", '"""Says what."""\n\n\ndef f() -> None:\n    pass\n'),
    ("mypy", "broken.py", '"""Says what."""\n\nX: int = "a"\n'),
    ("mypy", "broken.py", '"""Says what."""\n\n\ndef f(x):\n    """Untyped."""\n    return x\n'),
    ("clang_format", "broken.cpp", "int f() { return 1; }\n"),
    ("clang_format", "broken.cu", "int  f();\n"),
    ("starlark", "broken.bzl", '"""Says what."""\n\nX = \'a\'\n'),
    ("starlark", "broken.bzl", 'X = "a"\n'),
    ("shellcheck", "broken.sh", "#!/bin/sh\nrm $1\n"),
)

REPAIRED = (
    ("ruff", "a.py", '"""Says what."""\nX = \'a\'\n', '"""Says what."""\n\nX = "a"\n'),
    ("clang_format", "a.h", "int  f();\n", "int f();\n"),
    ("starlark", "a.bzl", '"""Says what."""\n\nX=1\n', '"""Says what."""\n\nX = 1\n'),
)


class ChecksTest(parameterized.TestCase):
    def setUp(self) -> None:
        # A cache of mypy's in a home folder is not this test's to write.
        self.folder = Path(self.create_tempdir().full_path)
        self.enter_context(
            mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.create_tempdir().full_path})
        )
        for name in CONFIGURATION:
            shutil.copy(workspace.root() / name, self.folder)

    def report(self, check: str, name: str, content: str) -> str:
        """What a check says about a workspace with this one file and our configuration."""
        (self.folder / name).write_text(content, encoding="utf-8")
        return checks.test(checks.CHECKS[check], self.folder)

    @parameterized.parameters(*checks.CHECKS)
    def test_clean(self, check: str) -> None:
        self.assertEqual(self.report(check, *CLEAN[check]), "")

    @parameterized.parameters(*BROKEN)
    def test_broken(self, check: str, name: str, content: str) -> None:
        self.assertIn(name, self.report(check, name, content))

    @parameterized.parameters(*REPAIRED)
    def test_repaired(self, check: str, name: str, before: str, after: str) -> None:
        (self.folder / name).write_text(before, encoding="utf-8")
        self.assertEqual(checks.fix(checks.CHECKS[check], self.folder), "")
        self.assertEqual((self.folder / name).read_text(encoding="utf-8"), after)

    def test_mypy_takes_a_script_that_cannot_be_imported_too(self) -> None:
        self.assertEqual(self.report("mypy", "a-script.py", "X: int = 1\n"), "")
        self.assertIn("a-script.py:1", self.report("mypy", "a-script.py", 'X: int = "a"\n'))

    def test_a_check_without_any_file_is_refused(self) -> None:
        with self.assertRaisesRegex(checks.ToolError, "no shell file found"):
            checks.test(checks.CHECKS["shellcheck"], self.folder)

    def test_a_repair_without_any_file_is_none(self) -> None:
        self.assertEqual(checks.fix(checks.CHECKS["starlark"], self.folder), "")

    def test_without_bazel_the_command_to_type_is_named(self) -> None:
        with (
            mock.patch.dict(os.environ, clear=True),
            self.assertRaisesRegex(checks.ToolError, "bazelw test //tools/lint"),
        ):
            checks.tool("ruff")


class ModuleNameTest(parameterized.TestCase):
    @parameterized.parameters(
        ("tools/lint/checks.py", "tools.lint.checks"),
        ("python/torch_cuda/__init__.py", "torch_cuda"),
        ("python/torch_cuda/_CUDAC.pyi", "torch_cuda._CUDAC"),
        ("profiler/python/torch_cuda_profiler/_swap.py", "torch_cuda_profiler._swap"),
        ("tools/wheel/rule_test.py", "tools.wheel.rule_test"),
        ("a-script.py", None),
        (".ci/run.py", None),
    )
    def test_as_imported(self, path: str, name: str | None) -> None:
        self.assertEqual(checks.module_name(PurePath(path)), name)


if __name__ == "__main__":
    absltest.main()
