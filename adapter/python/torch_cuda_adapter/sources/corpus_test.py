"""Upstream's own CUDA sources, translated: a second time nothing changes, and only code has changed.

Argument: build_variables.bzl at the top of the PyTorch sources.
"""

from __future__ import annotations

import itertools
import pathlib
import re
import sys

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import families, testing
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
# Headers that every program with PyTorch sees, and how they speak of CUDA.
PUBLIC = (
    *(f"c10/core/{n}.h" for n in ("Backend", "Device", "DeviceType", "DispatchKey", "StorageImpl")),
    *(f"aten/src/ATen/{n}.h" for n in ("Context", "core/TensorBase", "core/Generator")),
)
SPEAKS_OF_CUDA = re.compile(r"\w*(?:cuda|cudnn|cublas)\w*", re.IGNORECASE)
LITERAL = frozenset({Kind.COMMENT, Kind.STRING})


def sources() -> list[pathlib.Path]:
    """The files that are translated."""
    found = []
    for folder, step in FOLDERS.items():
        paths = sorted(p for p in (ROOT / folder).glob("*") if p.suffix in SUFFIXES)
        found += paths[::step]
    return found


class PublicNamesTest(parameterized.TestCase):
    """What PyTorch's public headers say of CUDA is translated, kept by a rule, or a finding."""

    @parameterized.parameters(*platforms.names())
    def test_names(self, platform: str) -> None:
        rules = Rules(platforms.load(platform))
        code = [t for path in PUBLIC for t in testing.code((ROOT / path).read_text())]
        words = [token.spelling for token in code]
        names = {word for word in words if SPEAKS_OF_CUDA.fullmatch(word) and word[-1] != "_"}
        called = {word for word, after in itertools.pairwise(words) if after == "("}
        self.assertGreater(len(names), 40)
        self.assertContainsSubset({"CUDA", "kCUDA", "is_cuda", "hasCUDA", "lazyInitCUDA"}, names)
        for name in sorted(names):
            forms = [f"f(at::{name});", f"f(c10::X::{name});"]
            forms += [f"x.{name}();", f"x->{name}();"] if name in called else []
            for source in forms:
                with self.subTest(source):
                    translation = translate(source, rules)
                    kept = families.of_name(name) and rules.identifier(name) is None
                    if name in testing.words(translation.text) and not kept:
                        self.assertIn(name, [finding.name for finding in translation.findings])

    def test_headers(self) -> None:
        spoken = re.compile(r"cuda|cudnn|cublas|nccl", re.IGNORECASE)
        folders = {"aten/src": ("ATen",), ".": ("c10", "torch")}
        headers = [
            path.relative_to(ROOT / root).as_posix()
            for root, names in folders.items()
            for name in names
            for path in (ROOT / root / name).rglob("*")
            if path.suffix in (".h", ".cuh", ".hpp", ".inl")
        ]
        speaking = [header for header in headers if spoken.search(header)]
        self.assertGreater(len(speaking), 150)
        self.assertEmpty([header for header in speaking if families.of_header(header) is None])


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
