"""Tests of tree."""

from __future__ import annotations

import os
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

    def test_links_are_files_and_are_not_followed(self) -> None:
        make_tree(self.root)
        (self.root / "torch/link.py").symlink_to("nn.py")
        (self.root / "torch/folder").symlink_to("csrc")
        tree = Tree(self.root)
        self.assertEqual(tree.links, {"torch/link.py", "torch/folder"})
        self.assertContainsSubset(tree.links, tree.files)
        self.assertNotIn("torch/folder/engine.cpp", tree.files)

    def test_what_is_neither_file_nor_folder_is_refused(self) -> None:
        tree = make_tree(self.root)
        os.mkfifo(self.root / "torch/pipe.py")
        with self.assertRaisesRegex(DecoupleError, r"^torch/pipe\.py: is neither a file nor a"):
            _ = tree.files

    def test_names_that_a_patch_cannot_hold_are_refused_in_one_line(self) -> None:
        for name in ("a\nb.cu", b"a\xff.cu"):
            tree = make_tree(self.root)
            file = os.path.join(os.fsencode(self.root), os.fsencode(name))
            with self.subTest(name):
                pathlib.Path(os.fsdecode(file)).touch()
                with self.assertRaisesRegex(DecoupleError, r"^the name '[^\n]*' is not printable"):
                    _ = tree.files
            os.unlink(file)

    def test_a_version_without_a_release_is_refused(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^version\.txt:1: names no release"):
            _ = make_tree(self.root, {"version.txt": ""}).version


if __name__ == "__main__":
    absltest.main()
