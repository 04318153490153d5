"""How counts of instructions are read and added up."""

from __future__ import annotations

import unittest

from bench.cudasim import mix

_TEXT = """\
k\t0\tadd.u32\tnone\t6\t2\t200
k\t1\tld.global.f32\tconsecutive\t1\t0\t32
k\t1\tld.global.f32\tscattered\t0\t1\t3
f\t0\tadd.u32\tnone\t0\t0\t0
"""


class Mix(unittest.TestCase):
    """Counts by hand."""

    def test_reads_and_adds_up(self) -> None:
        lines = mix.read(_TEXT)
        self.assertEqual(lines[2], mix.Line("k", 1, "ld.global.f32", "scattered", 0, 1, 3))
        self.assertEqual(mix.by_row(lines), {"add.u32": 0.8, "ld.global.f32": 0.2})
        self.assertEqual(mix.share(lines, lambda line: line.pattern == "scattered"), 0.1)
        self.assertEqual(mix.share([], lambda line: True), 0)

    def test_a_wrong_line_is_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "line 2 of the counts has 1 fields"):
            mix.read("k\t0\tadd.u32\tnone\t6\t2\t200\nnonsense\n")

    def test_most(self) -> None:
        self.assertEqual(mix.most([1, 6, 3], 0.6), 1)
        self.assertEqual(mix.most([1, 6, 3], 0.61), 2)
        self.assertEqual(mix.most([1, 6, 3], 1), 3)
        self.assertEqual(mix.most([], 0.9), 0)


if __name__ == "__main__":
    unittest.main()
