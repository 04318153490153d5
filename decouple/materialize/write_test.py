"""The restructured tree: what moves, what is cut, what is patched, and what is left when something goes wrong."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

from absl.testing import absltest

from decouple import scan, testing
from decouple.errors import DecoupleError
from decouple.materialize.cut import put_back
from decouple.materialize.write import Written, materialize
from decouple.patches import series
from decouple.plan.plan import make_plan
from decouple.rules.load import load
from decouple.tree import Tree

RULES = load("cuda")
_DEVICE = "third_device/torch_cuda/torch_cuda"
_PATCHES = "third_device/torch_cuda/torch_patches"

# A header that stays and is included beside itself by one that moves, and a Python file of the device.
_FILES: dict[str, str | bytes | None] = {
    "c10/cuda/Guard.h": '#pragma once\n#include "Stream.h"\n#include <vector>\n',
    "torch/csrc/fast.cpp": '#include "torch/csrc/engine.h"\n#include "engine.h"\nint fast();\n',
    "torch/csrc/engine.h": "#pragma once\n",
    "torch/cuda/__init__.py": "def is_available():\n    return True\n",
    "docs/picture.png": b"\x89PNG\xff\x00",
}


class MaterializeTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.work = pathlib.Path(self.create_tempdir().full_path)
        self.tree = testing.make_tree(self.work / "tree", _FILES)
        self.out = self.work / "out"

    def _materialize(self, out: pathlib.Path | None = None) -> Written:
        inventory = scan.scan(self.tree, RULES, jobs=1)
        return materialize(self.tree, inventory, make_plan(inventory), RULES, out or self.out)

    def _read(self, path: str) -> str:
        return (self.out / path).read_text(encoding="utf-8")

    def _content(self, root: pathlib.Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def test_whole_files_move_to_where_the_rfc_puts_them(self) -> None:
        self._materialize()
        for old, new in (
            ("c10/cuda/Stream.cpp", "csrc/framework/c10/Stream.cpp"),
            ("torch/csrc/fast.cpp", "csrc/framework/fast.cpp"),
            ("torch/cuda/__init__.py", "core/__init__.py"),
        ):
            self.assertTrue((self.out / _DEVICE / new).is_file(), new)
            self.assertFalse((self.out / old).exists(), old)

    def test_other_files_stay_as_they_are(self) -> None:
        self._materialize()
        self.assertEqual((self.out / "docs/picture.png").read_bytes(), _FILES["docs/picture.png"])
        self.assertEqual(self._read("c10/core/Device.h"), "#pragma once\n")

    def test_includes_name_headers_where_they_are_now(self) -> None:
        self._materialize()
        moved = self._read(f"{_DEVICE}/csrc/framework/c10/Stream.cpp")
        self.assertIn("#include <torch_cuda/csrc/framework/c10/Stream.h>", moved)
        header = self._read(f"{_DEVICE}/csrc/framework/c10/Stream.h")
        self.assertIn("#include <c10/core/Device.h>", header)

    def test_includes_beside_a_file_are_kept_where_both_move(self) -> None:
        self._materialize()
        self.assertIn('#include "Stream.h"', self._read(f"{_DEVICE}/csrc/framework/c10/Guard.h"))

    def test_includes_of_a_header_that_stays_beside_are_named_from_the_root(self) -> None:
        self._materialize()
        moved = self._read(f"{_DEVICE}/csrc/framework/fast.cpp")
        self.assertEqual(moved.count("torch/csrc/engine.h"), 2)

    def test_device_code_is_cut_out_and_can_be_put_back(self) -> None:
        self._materialize()
        rest = self._read("torch/csrc/engine.cpp")
        self.assertEqual(rest, "int run() {\n  return 0;\n}\n")
        pieces = self._read(f"{_DEVICE}/csrc/framework/intra_file/engine.cpp.inc")
        self.assertEqual(put_back(rest, pieces), self.tree.read_text("torch/csrc/engine.cpp"))

    def test_git_applies_the_patches_to_the_original(self) -> None:
        self._materialize()
        copy = self.work / "copy"
        shutil.copytree(self.tree.root, copy)
        patches = sorted((self.out / _PATCHES).glob("*.patch"))
        self.assertNotEmpty(patches)
        for patch in patches:
            subprocess.run(["git", "apply", patch], cwd=copy, check=True)
        self.assertEqual(
            (copy / "torch/csrc/engine.cpp").read_text(), self._read("torch/csrc/engine.cpp")
        )

    def test_the_patches_are_a_series_with_reasons(self) -> None:
        self._materialize()
        patches = series.read_series(self.out / _PATCHES / "series")
        self.assertEqual([patch.files for patch in patches], [("torch/csrc/engine.cpp",)])
        self.assertIn(b"cut out", patches[0].text)

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        self._materialize()
        self._materialize(self.work / "again")
        self.assertEqual(self._content(self.out), self._content(self.work / "again"))

    def test_a_folder_with_something_in_it_is_refused(self) -> None:
        self.out.mkdir()
        (self.out / "mine.txt").write_text("mine")
        with self.assertRaisesRegex(DecoupleError, "is not empty"):
            self._materialize()
        self.assertEqual(self._content(self.out), {"mine.txt": b"mine"})

    def test_a_folder_inside_of_the_tree_is_refused(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "inside of each other"):
            self._materialize(self.tree.root / "out")

    def test_nothing_is_left_of_a_tree_that_cannot_be_read(self) -> None:
        inventory = scan.scan(self.tree, RULES, jobs=1)
        (self.tree.root / "torch/csrc/fast.cpp").write_bytes(b"int a;\n\xff\n")
        with self.assertRaisesRegex(DecoupleError, r"torch/csrc/fast\.cpp:2: .*UTF-8"):
            materialize(Tree(self.tree.root), inventory, make_plan(inventory), RULES, self.out)
        self.assertEqual([path.name for path in self.work.iterdir()], ["tree"])


if __name__ == "__main__":
    absltest.main()
