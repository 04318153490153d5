"""Tests of the command line."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
from unittest import mock

from absl.testing import absltest

from decouple import cli
from decouple.model import Inventory
from decouple.testing import make_tree


class CommandLineTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(self.create_tempdir().full_path)
        self.outside = pathlib.Path(self.create_tempdir().full_path)

    def _run(self, *arguments: str) -> tuple[int, str, str]:
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = cli.main(arguments)
        return status, out.getvalue(), error.getvalue()

    def test_scan_prints_a_summary_and_writes_the_inventory(self) -> None:
        make_tree(self.root)
        file = self.outside / "inventory.json"
        status, out, _ = self._run("scan", str(self.root), "--json", str(file), "--jobs", "1")
        self.assertEqual(status, 0)
        self.assertIn("PyTorch 2.6.0, cuda", out)
        self.assertIn("cuda-guard", out)
        self.assertLen(Inventory.from_json(file.read_text(encoding="utf-8")).units, 3)

    def test_other_devices_are_scanned_by_their_rules(self) -> None:
        make_tree(self.root, {"c10/xpu/Stream.cpp": "", "torch/x.py": "d = 'xpu'\n"})
        status, out, _ = self._run("scan", str(self.root), "--device", "xpu", "--jobs", "1")
        self.assertEqual(status, 0)
        self.assertIn("xpu-folder", out)
        self.assertNotIn("cuda-", out)

    def test_bad_input_is_one_line_and_status_2(self) -> None:
        make_tree(self.root, {"torch/csrc/engine.cpp": "int a;\n#ifdef USE_CUDA\n"})
        cases = {
            (str(self.outside),): "is not a PyTorch source tree",
            (str(self.root), "--strict"): "torch/csrc/engine.cpp:2: #ifdef has no #endif",
            (str(self.root), "--device", "tpu"): "there are no rules for the device 'tpu'",
            (str(self.root), "--rules", str(self.outside / "none")): "cannot be read",
        }
        for arguments, message in cases.items():
            with self.subTest(arguments):
                status, out, error = self._run("scan", *arguments, "--jobs", "1")
                self.assertEqual((status, out), (2, ""))
                self.assertEqual(error.count("\n"), 1)
                self.assertIn(message, error)

    def test_inventory_that_cannot_be_written_leaves_nothing(self) -> None:
        make_tree(self.root)
        file = self.outside / "gone" / "inventory.json"
        status, _, error = self._run("scan", str(self.root), "--json", str(file), "--jobs", "1")
        self.assertEqual(status, 2)
        self.assertIn("cannot be written", error)
        self.assertEmpty(list(self.outside.iterdir()))

    def test_wrong_arguments_are_one_line_too(self) -> None:
        for arguments in (("scan",), ("scan", "x", "--jobs", "0"), ("nothing",)):
            error = io.StringIO()
            with self.subTest(arguments), contextlib.redirect_stderr(error):
                with self.assertRaises(SystemExit) as caught:
                    cli.main(arguments)
                self.assertEqual(caught.exception.code, 2)
                self.assertEqual(error.getvalue().count("\n"), 1)

    def test_paths_are_relative_to_where_bazel_run_was_typed(self) -> None:
        make_tree(self.root / "tree")
        (self.root / "series").write_text("a.patch\n")
        (self.root / "a.patch").write_text(
            "Why\n\n--- a/torch/nn.py\n+++ b/torch/nn.py\n@@ -1 +1 @@\n-class Module:\n+class M:\n"
        )
        (self.root / "rules.yaml").write_text("words: [cuda]\n")
        (self.root / "owners.bzl").write_text(
            "LAYERS = {}\ndef package_of(path, lists):\n    return ''\n"
            "def cut_package_of(path):\n    return ''\n"
        )
        (self.root / "query.xml").write_text("<query version='2'/>")
        (self.root / "sites.md").write_text("none\n")
        commands = (
            ("scan", "tree", "--json", "scan.json", "--rules", "rules.yaml"),
            ("plan", "tree", "--json", "plan.json", "--owners", "owners.bzl"),
            ("report", "tree", "--html", "page.html"),
            ("materialize", "tree", "--out", "out"),
            ("diff", "tree", "tree", "--out", "list.md"),
            (
                "verify",
                "tree",
                "--owners",
                "owners.bzl",
                "--query",
                "query.xml",
                "--sites",
                "sites.md",
            ),
            ("patches", "apply", "tree", "--series", "series"),
        )
        with mock.patch.dict(os.environ, {"BUILD_WORKING_DIRECTORY": str(self.root)}):
            for arguments in commands:
                with self.subTest(arguments):
                    status, _, error = self._run(*arguments)
                    self.assertEqual(error, "")
                    self.assertEqual(status, 1 if arguments[0] == "verify" else 0)
        for name in ("scan.json", "plan.json", "page.html", "out/version.txt", "list.md"):
            self.assertTrue((self.root / name).is_file(), name)
        self.assertIn("class M:", (self.root / "tree/torch/nn.py").read_text())


if __name__ == "__main__":
    absltest.main()
