"""Cutting device code out of a file and putting it back gives the file, byte for byte.

Argument: a file at the top of the PyTorch sources.
"""

from __future__ import annotations

import pathlib
import random
import sys

from absl.testing import absltest

from decouple.cpp import regions
from decouple.cpp.conditions import Macros
from decouple.errors import DecoupleError
from decouple.materialize.cut import cut, put_back
from decouple.rules.load import load
from decouple.tree import Tree

TREE = Tree(pathlib.Path(sys.argv.pop(1)).resolve().parent)
MACROS = load("cuda").macros

_CONDITIONS = (
    "#ifdef USE_CUDA",
    "#ifndef USE_CUDA",
    "#if defined(USE_CUDA) || defined(USE_ROCM)",
    "#if defined(USE_CUDA) && \\\n  X > 2",
    "#if X",
    "#if 0",
)
_OTHERWISE = ("#else", "#elif defined(USE_CUDA)", "#elif X")
_LINES = (
    "int a;",
    "",
    "  // USE_CUDA",
    'f("#endif");',
    "// piece 1, line 1: 3 characters in place of 0 at 0",
)


def _random_source(source: random.Random, depth: int = 0) -> list[str]:
    lines = []
    for _ in range(source.randrange(5)):
        if depth < 3 and source.random() < 0.5:
            lines.append(source.choice(_CONDITIONS))
            lines += _random_source(source, depth + 1)
            if source.random() < 0.5:
                lines.append(source.choice(_OTHERWISE))
                lines += _random_source(source, depth + 1)
            lines.append("#endif" + source.choice(("", " // USE_CUDA")))
        else:
            lines.append(source.choice(_LINES))
    return lines


class CutTest(absltest.TestCase):
    def test_every_guarded_file_of_the_tree_comes_back(self) -> None:
        cut_files = 0
        for path in TREE.files:
            if not path.endswith((".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh")):
                continue
            if b"USE_C" not in TREE.read_bytes(path):
                continue
            text = TREE.read_text(path)
            parts = cut(text, MACROS, path)
            if parts is None:
                continue
            cut_files += 1
            with self.subTest(path):
                self.assertEqual(put_back(parts.rest, parts.pieces), text)
                self.assertEqual(parts.rest, regions.strip_device(text, MACROS, path))
        self.assertGreater(cut_files, 30)

    def test_random_files_come_back(self) -> None:
        source = random.Random(5)
        macros = Macros(frozenset({"USE_CUDA"}), frozenset())
        for _ in range(400):
            end = source.choice(("\n", "\r\n"))
            text = end.join(_random_source(source)) + source.choice(("", end))
            parts = cut(text, macros, "f.cpp")
            if parts is not None:
                self.assertEqual(put_back(parts.rest, parts.pieces), text)

    def test_the_pieces_hold_the_code_and_its_lines(self) -> None:
        text = "int a;\n#ifdef USE_CUDA\nint b;\n#else\nint c;\n#endif\n"
        parts = cut(text, MACROS, "torch/csrc/f.cpp")
        assert parts is not None
        self.assertEqual(parts.rest, "int a;\nint c;\n")
        self.assertIn("torch/csrc/f.cpp", parts.pieces)
        self.assertIn("line 2:", parts.pieces)
        self.assertIn("int b;", parts.pieces)

    def test_a_file_without_device_code_is_not_cut(self) -> None:
        self.assertIsNone(cut("#ifdef X\n#endif\n", MACROS, "f.cpp"))

    def test_pieces_of_another_file_are_refused(self) -> None:
        parts = cut("int a;\n#ifdef USE_CUDA\nint b;\n#endif\n", MACROS, "f.cpp")
        assert parts is not None
        with self.assertRaisesRegex(DecoupleError, "belongs to another file"):
            put_back("", parts.pieces)


if __name__ == "__main__":
    absltest.main()
