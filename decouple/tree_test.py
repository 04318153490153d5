"""Tests of tree."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.testing import make_tree
from decouple.tree import Tree


class TreeTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(self.create_tempdir().full_path)

    def test_version_is_that_of_the_release(self) -> None:
        self.assertEqual(make_tree(self.root).version, "2.6.0")

    def test_files_are_sorted_and_leave_the_repository_of_git_out(self) -> None:
        tree = make_tree(self.root, {".git/HEAD": "x", "zeta.py": ""})
        self.assertEqual(list(tree.files), sorted(tree.files))
        self.assertIn("zeta.py", tree.files)
        self.assertNotIn(".git/HEAD", tree.files)

    def test_a_folder_without_upstreams_lists_is_no_tree(self) -> None:
        with self.assertRaisesRegex(
            DecoupleError, "is not a PyTorch source tree: it has no version"
        ):
            Tree(self.root)

    def test_what_is_no_folder_is_no_tree(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "is not a folder"):
            Tree(self.root / "nothing")

    def test_undecodable_bytes_are_named_with_their_line(self) -> None:
        tree = make_tree(self.root, {"c10/bad.cpp": b"int a;\nint \xff;\n"})
        with self.assertRaisesRegex(DecoupleError, r"^c10/bad\.cpp:2: byte 0xff is not UTF-8"):
            tree.read_text("c10/bad.cpp")

    def test_missing_file_is_named(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^c10/none\.h: cannot be read"):
            make_tree(self.root).read_bytes("c10/none.h")


if __name__ == "__main__":
    absltest.main()
