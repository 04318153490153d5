"""Files that name versions of PyTorch by hand name those of versions.bzl.

versions_test.py VERSION…: in the order of the versions. The test runs at the root of the repository.
"""

from __future__ import annotations

import pathlib
import re
import sys

from absl.testing import absltest

VERSIONS = sys.argv[1:]
del sys.argv[1:]

MINORS = [version.rpartition(".")[0] for version in VERSIONS]
# By file: what a version looks like there, and which versions belong there.
NAMED = {
    "README.md": (r"torch==([\d.]+)\.\*", MINORS[-1:]),
    "device/new/template/BUILD.bazel": (r'^    "([\d.]+)",$', MINORS),
    "docs/ci.md": (r"torch==([\d.]+)", VERSIONS[-1:]),
    "docs/stock.md": (r"\b(\d+\.\d+\.\d+), CUDA", VERSIONS),
    "docs/vendors.md": (r"torch==([\d.]+)\.\*", MINORS[-1:]),
    "examples/stock/stock.py": (r'or "(\d+\.\d+\.\d+)"', VERSIONS[-1:]),
    "runtime/names/update.py": (r"torch==([\d.]+)", VERSIONS),
}


class VersionsTest(absltest.TestCase):
    def test_files_name_these_versions(self) -> None:
        for file, (pattern, needed) in NAMED.items():
            with self.subTest(file):
                text = pathlib.Path(file).read_text(encoding="utf-8")
                self.assertCountEqual(set(re.findall(pattern, text, re.MULTILINE)), needed, file)


if __name__ == "__main__":
    absltest.main()
