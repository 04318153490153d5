"""`decouple verify` finds nothing missing in this repository.

Arguments: a file at the top of the PyTorch sources, Bazel's answer on who compiles what, docs/coverage/intra-file.md, and the file
that says who owns what.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import sys
from unittest import mock

from absl.testing import absltest

from decouple import cli
from decouple.commands import options

OWNERS = pathlib.Path(sys.argv.pop(4))
SITES = pathlib.Path(sys.argv.pop(3))
COMPILED = pathlib.Path(sys.argv.pop(2))
SOURCES = pathlib.Path(sys.argv.pop(1)).resolve().parent

_scan_tree = options.scan_tree
_scanned: list[options.Scanned] = []


def _scan_once(args: argparse.Namespace, root: pathlib.Path | None = None) -> options.Scanned:
    if not _scanned:
        _scanned.append(_scan_tree(args, root))
    return _scanned[0]


class VerifyTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        # A scan takes most of the time, and finds the same in each test.
        self.enterContext(mock.patch.object(options, "scan_tree", _scan_once))

    def _verify(self, compiled: pathlib.Path, sites: pathlib.Path) -> tuple[int, str]:
        output = io.StringIO()
        arguments = ["verify", str(SOURCES), "--strict", "--owners", str(OWNERS)]
        with contextlib.redirect_stdout(output):
            status = cli.main([*arguments, "--query", str(compiled), "--sites", str(sites)])
        return status, output.getvalue()

    def test_packages_and_document_cover_the_tree(self) -> None:
        status, output = self._verify(COMPILED, SITES)
        self.assertEqual(status, 0, output)
        self.assertIn("all covered", output)

    def test_a_unit_that_no_package_compiles_is_named(self) -> None:
        answer = COMPILED.read_text(encoding="utf-8")
        changed = self.create_tempfile(
            content=answer.replace("c10/cuda/CUDAStream.cpp", "c10/cuda/CUDAStream.txt")
        )
        status, output = self._verify(pathlib.Path(changed.full_path), SITES)
        self.assertEqual(status, 1)
        self.assertIn("c10/cuda/CUDAStream.cpp: no package compiles it", output)

    def test_a_site_without_a_row_is_named(self) -> None:
        document = SITES.read_text(encoding="utf-8")
        row = next(line for line in document.split("\n") if line.startswith("| `Storage.cpp`"))
        changed = self.create_tempfile(content=document.replace(row + "\n", ""))
        status, output = self._verify(COMPILED, pathlib.Path(changed.full_path))
        self.assertEqual(status, 1)
        self.assertIn("torch/csrc/Storage.cpp: the guards at 346 have no row", output)


if __name__ == "__main__":
    absltest.main()
