"""What upstream changes in its tree ends in a build that works, or in a message that says what to do."""

from __future__ import annotations

import os
import re
import sys
import time
import unittest
from pathlib import Path

from tests.nested.bazel import Bazel
from tools.lint import workspace
from upstream.changes import changes

# What reads the whole tree and compiles nothing: the owners of all units, and the op profile.
TARGETS = ("//upstream/units", "//aten_cuda/codegen:generated")


class ChangesTest(unittest.TestCase):
    """Each change of changes.py, made to the tree that is built."""

    bazel: Bazel
    tree: Path
    source: Path

    @classmethod
    def setUpClass(cls) -> None:
        base = Bazel.output_base("changes")
        cls.source = (
            Path(os.environ["TEST_SRCDIR"], os.environ["PYTORCH_VERSION_TXT"]).resolve().parent
        )
        cls.tree = base.with_name(base.name + "-tree")
        cls.bazel = Bazel(
            workspace.root(), base, (f"--repo_env=PYTORCH_SOURCE_DIR={cls.tree}", "--disk_cache=")
        )

    @classmethod
    def tearDownClass(cls) -> None:
        cls.bazel.shut_down()

    def test_the_tree_as_it_is(self) -> None:
        changes.copy(self.source, self.tree)
        result = self.bazel.run("build", *TARGETS)
        self.assertTrue(result.succeeded, result.text)
        self.assertNotIn("is in no profile", result.text)

    def test_changes(self) -> None:
        for change in changes.CHANGES:
            with self.subTest(change.name):
                begun = time.monotonic()
                changes.copy(self.source, self.tree)
                change.apply(self.tree)
                result = self.bazel.run("build", *TARGETS)
                print(f"{change.name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
                self.assertEqual(result.succeeded, change.builds, result.text)
                # A failed rule has a traceback of Starlark; one of Python is a tool that broke down.
                self.assertNotRegex(result.text, r'(?m)^  File ".*\.py", line')
                for pattern in change.says:
                    self.assertTrue(
                        re.search(pattern, result.text, re.MULTILINE), f"{pattern}: {result.text}"
                    )


if __name__ == "__main__":
    unittest.main()
