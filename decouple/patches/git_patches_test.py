"""Patches that git wrote: creations, deletions, renames, line ends, names; git's own result is the judge."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.patches import series

_FILES = {
    "a.txt": b"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    "crlf.txt": b"a\r\nb\r\nc\r\n",
    "open.txt": b"x\ny",
    "empty.txt": b"",
    "sub/with blank.txt": b"q\n",
    "uml\u00e4ut.txt": b"u\n",
}
_GIT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

_Change = Callable[[pathlib.Path], object]


def _write(name: str, content: bytes) -> _Change:
    def change(root: pathlib.Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)

    return change


def _rename_and_change(root: pathlib.Path) -> None:
    (root / "a.txt").rename(root / "b.txt")
    (root / "b.txt").write_bytes(_FILES["a.txt"].replace(b"5", b"five"))


_CHANGES: dict[str, _Change] = {
    "create": _write("new/n.txt", b"n\n"),
    "create an empty file": _write("new/e.txt", b""),
    "create without a last line end": _write("n.txt", b"abc"),
    "delete": lambda root: (root / "crlf.txt").unlink(),
    "delete an empty file": lambda root: (root / "empty.txt").unlink(),
    "rename": lambda root: (root / "a.txt").rename(root / "b.txt"),
    "rename and change": _rename_and_change,
    "change a line that ends in CRLF": _write("crlf.txt", b"a\r\nB\r\nc\r\n"),
    "change the line ends": _write("crlf.txt", b"a\nb\nc\n"),
    "add the last line end": _write("open.txt", b"x\ny\n"),
    "take the last line end": _write("a.txt", _FILES["a.txt"].rstrip(b"\n")),
    "fill an empty file": _write("empty.txt", b"z\n"),
    "empty a file": _write("a.txt", b""),
    "a name with a blank": _write("sub/with blank.txt", b"r\n"),
    "a name that git quotes": _write("uml\u00e4ut.txt", b"v\n"),
    "lines that look like a header": _write("a.txt", b"1\n-- a\n++ b\n" + _FILES["a.txt"][2:]),
}


class GitPatchesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.work = pathlib.Path(self.create_tempdir().full_path)
        self.tree = self.work / "tree"
        self.changed = self.work / "changed"

    def _git(self, *arguments: str) -> bytes:
        command = ["git", "-C", str(self.changed), *arguments]
        return subprocess.run(command, env=_GIT, capture_output=True, check=True).stdout

    def _series(self, change: _Change, *options: str) -> pathlib.Path:
        """Makes both trees, and the series that leads from one to the other."""
        shutil.rmtree(self.work)
        for name, content in _FILES.items():
            _write(name, content)(self.changed)
        shutil.copytree(self.changed, self.tree)
        self._git("init", "-q")
        self._git("add", "-A")
        self._git("commit", "-qm", "before")
        change(self.changed)
        self._git("add", "-A")
        diff = self._git("diff", "--cached", *options)
        (self.work / "p.patch").write_bytes(b"Why\n\nA reason.\n---\n" + diff)
        (self.work / "series").write_text("p.patch\n")
        return self.work / "series"

    def _content(self, root: pathlib.Path) -> dict[str, bytes]:
        return {
            str(file.relative_to(root)): file.read_bytes()
            for file in root.rglob("*")
            if file.is_file() and ".git" not in file.parts
        }

    def test_apply_does_what_git_did_and_reverse_takes_it_back(self) -> None:
        for name, change in _CHANGES.items():
            with self.subTest(name):
                patches = series.read_series(self._series(change))
                before = self._content(self.tree)
                (standing,) = series.standings(self.tree, patches)
                self.assertEqual(standing.state, series.State.APPLIES)
                series.apply(self.tree, patches)
                self.assertEqual(self._content(self.tree), self._content(self.changed))
                (standing,) = series.standings(self.tree, patches)
                self.assertEqual(standing.state, series.State.APPLIED)
                series.reverse(self.tree, patches)
                self.assertEqual(self._content(self.tree), before)

    def test_what_is_no_change_of_text_or_names_is_refused(self) -> None:
        cases: dict[str, tuple[_Change, tuple[str, ...]]] = {
            "changes a mode": (lambda root: (root / "a.txt").chmod(0o755), ()),
            "or copies a file": (
                lambda root: shutil.copyfile(root / "a.txt", root / "c.txt"),
                ("--find-copies-harder",),
            ),
            "is a binary patch": (_write("image", b"\0\1\2"), ()),
            "the hunk has no context": (
                _write("a.txt", _FILES["a.txt"].replace(b"5\n", b"")),
                ("-U0",),
            ),
        }
        for message, (change, options) in cases.items():
            file = self._series(change, *options)
            with (
                self.subTest(message),
                self.assertRaisesRegex(DecoupleError, rf"^p\.patch:\d+: .*{message}"),
            ):
                series.read_series(file)

    def test_a_hunk_that_is_longer_than_its_header_says_is_refused(self) -> None:
        file = self._series(_CHANGES["change a line that ends in CRLF"])
        with (self.work / "p.patch").open("ab") as patch:
            patch.write(b"+more\n")
        with self.assertRaisesRegex(DecoupleError, "longer than its header says"):
            series.read_series(file)

    def test_a_file_that_cannot_be_written_leaves_all_as_they_were(self) -> None:
        def change(root: pathlib.Path) -> None:
            _write("a.txt", b"changed\n")(root)
            _write("taken", b"x\n")(root)

        patches = series.read_series(self._series(change))
        (self.tree / "taken").mkdir()
        before = self._content(self.tree)
        with self.assertRaisesRegex(DecoupleError, "^taken: cannot be written: .*nothing was"):
            series.apply(self.tree, patches)
        self.assertEqual(self._content(self.tree), before)


if __name__ == "__main__":
    absltest.main()
