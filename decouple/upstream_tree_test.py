"""The scan of upstream's tree, held against upstream's own build lists and this repository's documents.

Arguments: docs/coverage/intra-file.md, the table of units that packages own, and build_variables.bzl at the top of the PyTorch
sources.
"""

from __future__ import annotations

import pathlib
import re
import sys

from absl.testing import absltest

from decouple import scan
from decouple.cpp import lexer
from decouple.lists import cmake, starlark
from decouple.model import Kind
from decouple.rules.load import load
from decouple.tree import Tree

DOCUMENT = pathlib.Path(sys.argv.pop(1)).read_text(encoding="utf-8")
OWNED = {
    line.split("\t")[0]
    for line in pathlib.Path(sys.argv.pop(1)).read_text(encoding="utf-8").splitlines()
}
# The repository is fetched as a whole; one file of it says where.
TREE = Tree(pathlib.Path(sys.argv.pop(1)).resolve().parent)

_ROOTS = ("", "torch/csrc/", "torch/csrc/distributed/")
_ROW = re.compile(r"^\| `(?P<path>[^`]+)` \| (?P<guards>\d[^|]*) \|", re.MULTILINE)

# Listed in build_variables.bzl for other build systems; upstream's CMake does not compile it.
_NOT_IN_CMAKE = {"torch/csrc/cuda/Tensor.cpp"}


INVENTORY = scan.scan(TREE, load("cuda"))
SUPPLEMENTS = {f.path for f in INVENTORY.findings if f.kind is Kind.SUPPLEMENT}


class UpstreamTreeTest(absltest.TestCase):
    def test_units_are_those_that_packages_own(self) -> None:
        self.assertEqual({unit.path for unit in INVENTORY.units} | _NOT_IN_CMAKE, OWNED)

    def test_every_unit_says_which_list_named_it(self) -> None:
        for unit in INVENTORY.units:
            self.assertNotEmpty(unit.lists, unit.path)

    def test_every_documented_guard_is_found(self) -> None:
        found = {
            (finding.path, line)
            for finding in INVENTORY.findings
            if finding.kind is Kind.INTRA_FILE
            and (finding.rule.startswith("cuda-guard") or finding.rule == "cuda-shared-name")
            for line in (
                (finding.first_line,)
                if finding.rule != "cuda-shared-name"
                else range(finding.first_line, finding.last_line + 1)
            )
        }
        documented = {
            (path, int(number))
            for row in _ROW.finditer(DOCUMENT)
            for path in [f"{root}{row['path']}" for root in _ROOTS]
            if TREE.has(path)
            for number in re.findall(r"\b\d+\b", row["guards"])
        }
        self.assertGreater(len(documented), 100)
        whole = {finding.path for finding in INVENTORY.findings if finding.kind is Kind.INTER_FILE}
        left = {(path, line) for path, line in documented - found if path not in whole}
        self.assertEmpty(sorted(left))

    def test_generated_configuration_is_a_supplement(self) -> None:
        supplements = {
            finding.path for finding in INVENTORY.findings if finding.kind is Kind.SUPPLEMENT
        }
        self.assertContainsSubset(
            {
                "aten/src/ATen/native/native_functions.yaml",
                "c10/core/Device.h",
                "torch/_C/__init__.pyi.in",
            },
            supplements,
        )

    def test_no_file_of_the_cpu_build_is_taken_as_a_whole(self) -> None:
        whole = {finding.path for finding in INVENTORY.findings if finding.kind is Kind.INTER_FILE}
        self.assertNoCommonElements(
            whole, {"aten/src/ATen/detail/CUDAHooksInterface.cpp", "torch/csrc/api/src/cuda.cpp"}
        )

    def test_other_devices_have_the_sources_that_upstream_lists_for_them(self) -> None:
        # Upstream's sources for these devices, by where they are; hipify writes the others of ROCm.
        own = {
            "xpu": r"(?:c10|aten/src/ATen|aten/src/ATen/native/mkldnn|torch/csrc)/xpu/(?!test/).*\.cpp",
            "rocm": r"aten/src/ATen/(?:miopen|native/miopen|native/hip)/.*\.(?:cpp|hip)",
        }
        filelists = starlark.lists(TREE, scan.FILELISTS)
        for device, pattern in own.items():
            rules = load(device)
            definitions = {**rules.definitions, **rules.device_definitions}
            found = cmake.configure(
                TREE, rules.cmake_files, definitions, filelists, rules.optional
            ).sources()
            expected = {path for path in TREE.files if re.fullmatch(pattern, path)}
            self.assertGreater(len(expected), 10)
            self.assertContainsSubset(expected, found)

    def test_code_that_says_cuda_is_found(self) -> None:
        # Comments, strings and templates aside, a line of shared C++ that has the word has a finding.
        covered: dict[str, set[int]] = {}
        whole = {finding.path for finding in INVENTORY.findings if finding.whole_file}
        for finding in INVENTORY.findings:
            lines = covered.setdefault(finding.path, set())
            lines.update(range(finding.first_line, finding.last_line + 1))
        left = [
            f"{path}:{number}"
            for path in TREE.files
            if re.fullmatch(r"(?:c10|aten/src/ATen/core|torch/csrc/autograd)/.*\.(?:h|cpp)", path)
            and not (path in whole and path not in SUPPLEMENTS)
            for text in [TREE.read_text(path)]
            if "cuda" in text.lower()
            for lines in [lexer.Lines(text)]
            for word in re.finditer(r"(?i)cuda", lexer.mask(text))
            for number in [lines.number(word.start())]
            if number not in covered.get(path, set())
        ]
        self.assertEmpty(left)


if __name__ == "__main__":
    absltest.main()
