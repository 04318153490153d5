"""Upstream's own CUDA sources, translated: a second time nothing changes, and only code has changed.

Argument: build_variables.bzl at the top of the PyTorch sources.
"""

from __future__ import annotations

import pathlib
import sys

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.tokenizer import Kind, tokenize
from torch_cuda_adapter.sources.translator import translate

ROOT = pathlib.Path(sys.argv.pop(1)).resolve().parent
# Each folder with the share of its files that is taken: every second, every tenth.
FOLDERS = {
    "aten/src/ATen/cuda": 2,
    "c10/cuda": 2,
    "aten/src/ATen/native/cuda": 10,
    "torch/csrc/cuda": 3,
}
SUFFIXES = (".cu", ".cuh", ".cpp", ".h")
LITERAL = frozenset({Kind.COMMENT, Kind.STRING})


def sources() -> list[pathlib.Path]:
    """The files that are translated."""
    found = []
    for folder, step in FOLDERS.items():
        paths = sorted(p for p in (ROOT / folder).glob("*") if p.suffix in SUFFIXES)
        found += paths[::step]
    return found


class CorpusTest(parameterized.TestCase):
    @parameterized.parameters("musa", "stand-in")
    def test_upstreams_sources(self, name: str) -> None:
        rules = Rules(platforms.load(name))
        paths = sources()
        self.assertGreater(len(paths), 60)
        translated = 0
        for path in paths:
            with self.subTest(path.name):
                source = path.read_bytes().decode("utf-8", "surrogateescape")
                once = translate(source, rules, path.name)
                translated += once.translated.total()
                self.assertEqual(translate(once.text, rules).text, once.text)
                before = [t.text for t in tokenize(source) if t.kind in LITERAL]
                after = [t.text for t in tokenize(once.text) if t.kind in LITERAL]
                self.assertSameElements(after, before)
                if name == "musa":
                    # Its calls keep their arguments, so each finding's line is the translation's too.
                    self.assertSequenceEqual(after, before)
                    self.assertEqual(once.text.count("\n"), source.count("\n"))
        self.assertGreater(translated, 500)


if __name__ == "__main__":
    absltest.main()
