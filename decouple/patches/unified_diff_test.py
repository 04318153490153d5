"""Unified diffs: what is written is what git reads, and what is read is what git and GNU diff write."""

from __future__ import annotations

import difflib
import pathlib
import random
import subprocess
import tempfile

from absl.testing import absltest

from decouple import text_edits
from decouple.errors import DecoupleError
from decouple.patches import hunks, unified_diff
from decouple.text_edits import Edit


def _text(source: random.Random, lines: int) -> str:
    text = "".join(f"{source.choice('abcd')}\n" for _ in range(source.randrange(lines)))
    return text[:-1] if text and source.random() < 0.3 else text


def _edits(source: random.Random, text: str) -> list[Edit]:
    edits: list[Edit] = []
    for start in sorted(source.sample(range(len(text) + 1), min(4, len(text) + 1))):
        if not edits or start > edits[-1].end:
            end = min(start + source.randrange(4), len(text))
            edits.append(Edit(start, end, _text(source, 3)))
    return edits


class UnifiedDiffTest(absltest.TestCase):
    def test_git_applies_what_is_written(self) -> None:
        source = random.Random(3)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "f.txt")
            for _ in range(60):
                text = _text(source, 40)
                edits = _edits(source, text)
                changes = text_edits.line_changes(text, edits)
                if not changes or not text or not text_edits.apply_edits(text, edits):
                    continue  # creates or deletes the file, which is another header
                file.write_text(text, encoding="utf-8")
                diff = unified_diff.render("f.txt", text, changes)
                done = subprocess.run(
                    ["git", "apply", "-"],
                    check=False,
                    cwd=folder,
                    input=diff,
                    text=True,
                    capture_output=True,
                )
                self.assertEqual(done.returncode, 0, f"{done.stderr}\n{diff}")
                self.assertEqual(
                    file.read_text(encoding="utf-8"), text_edits.apply_edits(text, edits)
                )

    def test_diffs_of_others_are_read_and_applied(self) -> None:
        source = random.Random(4)
        for _ in range(200):
            old = [f"{source.choice('abcdefgh')}\n" for _ in range(30)]
            new = [line for line in old if source.random() > 0.1] + ["end\n"]
            text = "".join(difflib.unified_diff(old, new, "a/f", "b/f"))
            (diff,) = unified_diff.parse("A reason.\n" + text, "x.patch").files
            self.assertEqual(hunks.apply_file("".join(old), diff), "".join(new))
            self.assertEqual(hunks.apply_file("".join(new), diff.reversed()), "".join(old))

    def test_the_head_is_the_reason(self) -> None:
        patch = unified_diff.parse(
            "From 0\nSubject: [PATCH 1/2] Link cudart\n\nMore.\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            "x.patch",
        )
        self.assertEqual(patch.subject, "Link cudart")
        self.assertIn("More.", patch.head)

    def test_files_are_created_and_deleted(self) -> None:
        (diff,) = unified_diff.parse("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", "x").files
        self.assertEqual(hunks.apply_file(None, diff), "a\nb\n")
        self.assertIsNone(hunks.apply_file("a\nb\n", diff.reversed()))
        self.assertIsInstance(hunks.apply_file("x\n", diff), hunks.Misfit)

    def test_what_is_no_diff_is_refused_with_its_line(self) -> None:
        for text, line in (
            ("only prose\n", 0),
            ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n", 4),
            ("--- a/f\n+++ b/f\nprose\n", 3),
            ("--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-a\n+b\n", 2),
        ):
            with self.assertRaises(DecoupleError) as raised:
                unified_diff.parse(text, "x.patch")
            self.assertEqual(raised.exception.line, line, str(raised.exception))


if __name__ == "__main__":
    absltest.main()
