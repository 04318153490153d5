"""Which messages of commits are refused, and which commits are looked at."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from pathlib import Path
from unittest import mock

from absl.testing import absltest, parameterized

from tools.lint import commits

_WHY = "Nobody could read it before.\n"

_REFUSED = (
    ("Adds a row", "imperative"),
    ("Added a row", "imperative"),
    ("Adding a row", "imperative"),
    ("A row of the table", "imperative"),
    ("What the table says", "imperative"),
    ("cuBLAS's rotations", "imperative"),
    ("docs: say more", "imperative"),
    ("Docs: Say more", "imperative"),
    ("docs:", "imperative"),
    ("say more", "imperative"),
    ("WIP: a row", "leftover"),
    ("fixup! Add a row", "leftover"),
    ("Formatted", "leftover"),
    ("Add a row; say more", "several"),
    ("Add a row.", "full stop"),
    ("Add " + "x" * 69, "73 characters"),
)

_TAKEN = (
    "Add a row",
    "runtime/blas: Add a row",
    "cudasim/engine/v4.1: Add a row",
    "Feed the kernel",
    "Pass the stream",
    "Bring README up to date",
    "Focus the test",
    "Format numbers as C does",
    "Add " + "x" * 68,
)


def _faults(subject: str, body: str = _WHY) -> list[str]:
    return list(commits.faults([commits.Commit("1234567", subject, body)]))


class MessagesTest(parameterized.TestCase):
    @parameterized.parameters(*_REFUSED)
    def test_refused(self, subject: str, what: str) -> None:
        (fault,) = _faults(subject)
        self.assertStartsWith(fault, f'1234567 "{subject}": ')
        self.assertIn(what, fault)

    @parameterized.parameters(*_TAKEN)
    def test_taken(self, subject: str) -> None:
        self.assertEqual(_faults(subject), [])

    @parameterized.parameters("", "\n", "Signed-off-by: A <a@example.com>\n")
    def test_a_message_without_a_reason_is_refused(self, body: str) -> None:
        (fault,) = _faults("Add a row", body)
        self.assertIn("no body", fault)

    def test_two_of_one_subject_are_refused(self) -> None:
        twice = [commits.Commit(name, "Add a row", _WHY) for name in ("1", "2")]
        other = commits.Commit("3", "Add a table", _WHY)
        self.assertLen(list(commits.faults([*twice, other])), 2)


class HistoryTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = Path(self.create_tempdir().full_path)
        # What is set up on this machine, such as hooks and signatures, is not for this history.
        changed = {
            "BUILD_WORKSPACE_DIRECTORY": str(self.root),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.enter_context(mock.patch.dict(os.environ, changed))
        (self.root / "pyproject.toml").touch()
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("the first")

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, subject: str, body: str = _WHY) -> str:
        self.git("commit", "--quiet", "--allow-empty", "-m", subject, "-m", body)
        return self.git("rev-parse", "HEAD")

    def run_it(self, *arguments: str, since: str = "") -> tuple[int, str]:
        with (
            contextlib.redirect_stdout(io.StringIO()) as said,
            mock.patch.object(commits, "SINCE", since),
        ):
            status = commits.main(arguments)
        return status, said.getvalue()

    def test_what_the_branch_adds_is_read_the_oldest_first(self) -> None:
        self.git("checkout", "--quiet", "-b", "branch")
        self.commit("Add a row", "One line.\n\nAnother.")
        self.commit("Add a table")
        self.git("checkout", "--quiet", "main")
        self.commit("Mend a row")
        self.git("checkout", "--quiet", "branch")
        self.git("merge", "--quiet", "-m", "what git writes", "main")
        found = commits.read(self.root, "main")
        self.assertEqual([commit.subject for commit in found], ["Add a row", "Add a table"])
        self.assertEqual(found[0].body, "One line.\n\nAnother.\n")

    def test_a_fault_fails_and_is_printed(self) -> None:
        since = self.commit("the second")
        self.assertEqual(self.run_it(since=since), (0, "0 commits checked, 0 faults\n"))
        self.commit("Add a row")
        self.commit("Adds a row")
        status, said = self.run_it(since=since)
        self.assertEqual(status, 1)
        self.assertRegex(said, '^[0-9a-f]+ "Adds a row": .*\n2 commits checked, 1 faults\n$')
        self.assertEqual(self.run_it("--base=HEAD~2")[0], 1)
        self.assertEqual(self.run_it("--base=HEAD")[0], 0)

    def test_a_clone_without_the_commit_is_told_and_passes(self) -> None:
        self.commit("Adds a row")
        status, said = self.run_it(since="1" * 40)
        self.assertEqual(status, 0)
        self.assertRegex(said, "found no 1111.* needed a clone with it")

    def test_a_base_that_is_not_there_fails(self) -> None:
        self.assertEqual(self.run_it("--base=nowhere")[0], 1)

    def test_a_base_of_another_history_is_none(self) -> None:
        first = self.git("rev-parse", "HEAD")
        self.git("checkout", "--quiet", "--orphan", "other")
        self.commit("Adds a row")
        self.assertRegex(self.run_it(since=first)[1], "found no ")

    def test_no_history_at_all(self) -> None:
        (self.root / ".git").rename(self.root / "moved")
        self.assertEqual(self.run_it(since="HEAD")[0], 0)


if __name__ == "__main__":
    absltest.main()
