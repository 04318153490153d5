"""docs/intra-file.md lists every guarded piece of CUDA code in PyTorch's sources, at its line.

Arguments: the document, and build_variables.bzl at the top of the PyTorch sources.
"""

from __future__ import annotations

import pathlib
import re
import sys

from absl.testing import absltest

DOCUMENT = pathlib.Path(sys.argv.pop(1))
# The repository is fetched as a whole; one file of it says where.
SOURCES = pathlib.Path(sys.argv.pop(1)).resolve().parent

# Folders that a row's path may be relative to, the full path first.
_ROOTS = ("", "torch/csrc", "torch/csrc/distributed")
_ROW = re.compile(r"^\| `(?P<path>[^`]+)` \| (?P<guards>\d[^|]*) \|", re.MULTILINE)
_GUARD = re.compile(r"\s*#\s*(?:if|ifdef|elif)\b.*\bUSE_CUDA\b")

# Guards on another macro, and headers that are CUDA's by name: see the document.
_BEYOND_THE_RULE = {
    "torch/csrc/Module.cpp": {1858},
    "torch/csrc/distributed/c10d/init.cpp": {31, 66, 2883, 3456, 3505},
    "torch/csrc/utils/cuda_enabled.h": {6},
    "torch/csrc/CudaIPCTypes.h": {2},
}


def _listed() -> dict[str, set[int]]:
    """Returns the lines that the document lists for each file."""
    lines: dict[str, set[int]] = {}
    for row in _ROW.finditer(DOCUMENT.read_text(encoding="utf-8")):
        candidates = [f"{root}/{row['path']}".lstrip("/") for root in _ROOTS]
        path = next((path for path in candidates if (SOURCES / path).is_file()), row["path"])
        lines.setdefault(path, set()).update(int(n) for n in re.findall(r"\b\d+\b", row["guards"]))
    return lines


def _in_the_sources() -> dict[str, set[int]]:
    """Returns the lines of the guards on USE_CUDA in files that are not CUDA's by name."""
    lines: dict[str, set[int]] = {}
    for top in ("c10", "aten/src", "torch/csrc"):
        for file in (SOURCES / top).rglob("*"):
            path = file.relative_to(SOURCES).as_posix()
            if file.suffix not in {".h", ".hpp", ".cpp"} or "cuda" in path.lower():
                continue
            text = file.read_text(encoding="utf-8", errors="replace").split("\n")
            guards = {number for number, line in enumerate(text, 1) if _GUARD.match(line)}
            if guards:
                lines[path] = guards
    return lines


class GuardsAreListedTest(absltest.TestCase):
    def test_document_lists_exactly_the_guards_of_the_sources(self) -> None:
        expected = _in_the_sources()
        for path, guards in _BEYOND_THE_RULE.items():
            expected[path] = expected.get(path, set()) | guards
        self.assertEqual(_listed(), expected)

    def test_document_counts_right(self) -> None:
        guards = _in_the_sources()
        counts = f"{sum(map(len, guards.values()))}\nguards in {len(guards)} files"
        self.assertIn(counts, DOCUMENT.read_text(encoding="utf-8"))

    def test_guards_beyond_the_rule_are_where_the_document_says(self) -> None:
        for path, numbers in _BEYOND_THE_RULE.items():
            text = (SOURCES / path).read_text(encoding="utf-8").split("\n")
            for number in numbers:
                self.assertRegex(text[number - 1], r"^#if.*\bUSE_(CUDA|CUDNN|C10D_NCCL)\b")


if __name__ == "__main__":
    absltest.main()
