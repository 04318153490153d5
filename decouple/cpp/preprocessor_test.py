"""Stripping device code from upstream's files leaves what the real preprocessor leaves.

Argument: build_variables.bzl at the top of the PyTorch sources.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys

from absl.testing import absltest

from decouple.cpp import regions
from decouple.rules.load import load
from decouple.tree import Tree

# The repository is fetched as a whole; one file of it says where.
TREE = Tree(pathlib.Path(sys.argv.pop(1)).resolve().parent)

_COMPILER = next(
    (found for name in ("g++", "c++", "g++-13", "clang++") if (found := shutil.which(name))), ""
)
_SOURCE = re.compile(r"(?:aten|c10|caffe2|torch|test|binaries)/.*\.(?:h|hpp|cpp|cc|cu|cuh)")
# Includes would pull in files that are not there; as words they are compared like all other text.
_INCLUDE = re.compile(r"^([ \t]*)#([ \t]*include\b)", re.MULTILINE)
_MACROS = load("cuda").macros
_WITHOUT = [f"-U{name}" for name in sorted(_MACROS.names)] + [
    f"-D{name}()=0" for name in sorted(_MACROS.calls)
]
_OTHERS = ["-DUSE_ROCM", "-DUSE_XPU", "-DUSE_DISTRIBUTED", "-DUSE_ITT", "-D__CUDACC__"]


def _preprocessed(text: str, options: list[str]) -> str:
    command = [_COMPILER, "-E", "-P", "-x", "c++", "-std=c++17", "-w", *options, "-"]
    source = _INCLUDE.sub(r"\1_\2", text)
    result = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    # A file may end in #error here, but then it has to end in the same one.
    errors = re.findall(r"#error.*", result.stderr)
    return "\n".join([result.stdout, *errors])


class PreprocessorTest(absltest.TestCase):
    def test_every_guarded_file_is_stripped_as_the_preprocessor_does(self) -> None:
        self.assertNotEmpty(_COMPILER, "this test needs a C++ compiler")
        guarded = 0
        for path in TREE.files:
            if not _SOURCE.fullmatch(path):
                continue
            text = TREE.read_text(path)
            if not regions.device_regions(text, _MACROS, path):
                continue
            guarded += 1
            stripped = regions.strip_device(text, _MACROS, path)
            with self.subTest(path):
                self.assertEmpty(regions.device_regions(stripped, _MACROS, path))
                for options in (_WITHOUT, _WITHOUT + _OTHERS):
                    self.assertEqual(_preprocessed(text, options), _preprocessed(stripped, options))
        # Upstream has dozens; none at all would mean that nothing was compared.
        self.assertGreater(guarded, 50)


if __name__ == "__main__":
    absltest.main()
