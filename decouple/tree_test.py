"""Tests of tree."""

from __future__ import annotations

import os
import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.gaps import Gaps
from decouple.testing import make_tree
from decouple.tree import LONGEST_FILE, LONGEST_LINE, UNKNOWN, Tree, decode


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
            file = pathlib.Path(self.root, os.fsdecode(name))
            with self.subTest(name):
                file.touch()
                with self.assertRaisesRegex(DecoupleError, r"^the name '[^\n]*' is not printable"):
                    _ = tree.files
            file.unlink()

    def test_a_tree_that_lacks_something_is_a_tree(self) -> None:
        gaps = Gaps()
        lacks = ("version.txt", "build_variables.bzl", "caffe2/CMakeLists.txt")
        tree = make_tree(self.root, dict.fromkeys(lacks), gaps)
        self.assertEqual(tree.version, UNKNOWN)
        self.assertEqual({gap.path for gap in gaps.all()}, set(lacks))

    def test_what_is_no_tree_is_refused_where_gaps_are_allowed_too(self) -> None:
        for number, folders in enumerate(((), ("src",), ("torch",), ("c10",))):
            root = self.root / str(number)
            root.mkdir()
            for folder in folders:
                (root / folder).mkdir()
            with self.subTest(folders), self.assertRaisesRegex(DecoupleError, "is not a PyTorch"):
                Tree(root, Gaps())
        with self.assertRaisesRegex(DecoupleError, "cannot be read: File name too long"):
            Tree(self.root / ("x" * 5000), Gaps())

    def test_what_cannot_be_read_is_reported_and_empty(self) -> None:
        gaps = Gaps()
        changes = {"a.cpp": b"x\n" * LONGEST_FILE, "b.cpp": b"x" * (LONGEST_LINE + 1)}
        tree = make_tree(self.root, changes, gaps)
        for path in ("a.cpp", "b.cpp", "none.cpp"):
            self.assertEqual(tree.read_bytes(path), b"")
        self.assertEqual([gap.path for gap in gaps.all()], ["a.cpp", "b.cpp", "none.cpp"])

    def test_bytes_that_are_not_utf8_are_reported_and_kept(self) -> None:
        gaps = Gaps()
        content = b"int a;\n// \xe9\n"
        text = decode(content, "a.cpp", gaps)
        self.assertEqual(text.encode("utf-8", "surrogateescape"), content)
        (gap,) = gaps.all()
        self.assertEqual((gap.path, gap.line), ("a.cpp", 2))

    def test_links_behind_which_code_is_lost_are_reported(self) -> None:
        gaps = Gaps()
        tree = make_tree(self.root, gaps=gaps)
        for name, target in {
            "inside": "csrc",
            "circle": "circle",
            "circle.cpp": "circle.cpp",
            "outside": self.create_tempdir().full_path,
            "nowhere": "none",
            "all": "..",
            ".settings": "none",
        }.items():
            (self.root / "torch" / name).symlink_to(target)
        tree.report_links()
        lost = ("all", "circle", "circle.cpp", "nowhere", "outside")
        self.assertEqual([gap.path for gap in gaps.all()], [f"torch/{name}" for name in lost])

    def test_a_version_without_a_release_is_refused(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^version\.txt:1: names no release"):
            _ = make_tree(self.root, {"version.txt": ""}).version


if __name__ == "__main__":
    absltest.main()
