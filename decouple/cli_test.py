"""Tests of the command line."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
from unittest import mock

from absl.testing import absltest

from decouple import cli
from decouple.gaps import Gaps
from decouple.model import Inventory
from decouple.testing import MINIMAL, make_tree


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

    def test_what_cannot_be_read_is_said_by_every_command(self) -> None:
        broken: dict[str, str | bytes] = {
            "build_variables.bzl": MINIMAL["build_variables.bzl"] + "lost = nowhere()\n",
            "torch/bytes.cpp": b'#include "x"\n#ifdef USE_CUDA\nchar a[] = "cuda \xe9";\n#endif\n',
        }
        make_tree(self.root, broken, Gaps())
        (self.outside / "query.xml").write_text("<query version='2'/>")
        (self.outside / "sites.md").write_text("none\n")
        (self.outside / "owners.bzl").write_text(
            "LAYERS = {}\ndef package_of(path, lists):\n    return ''\n"
            "def cut_package_of(path):\n    return ''\n"
        )
        tree = str(self.root)
        owners = ("--owners", "owners.bzl")
        commands: tuple[tuple[str, ...], ...] = (
            ("scan", tree, "--json", "scan.json"),
            ("plan", tree, "--json", "plan.json"),
            ("plan", tree, "--all"),
            ("report", tree, "--html", "page.html"),
            ("materialize", tree, "--out", "out"),
            ("diff", tree, tree),
            ("diff", tree, tree, "--out", "list.md"),
            ("verify", tree, *owners, "--query", "query.xml", "--sites", "sites.md"),
        )
        with mock.patch.dict(os.environ, {"BUILD_WORKING_DIRECTORY": str(self.outside)}):
            for arguments in commands:
                with self.subTest(arguments):
                    status, out, error = self._run(*arguments, "--jobs", "1")
                    self.assertEqual((status, error), (int(arguments[0] == "verify"), ""))
                    self.assertIn("could not be read", out)
                    self.assertIn("build_variables.bzl:3: fails: NameError", out)
                    self.assertIn("torch/bytes.cpp:3: byte 0xe9", out)
            for arguments in commands:
                with self.subTest(arguments, strict=True):
                    status, out, error = self._run(*arguments, "--jobs", "1", "--strict")
                    self.assertEqual((status, out), (2, ""))
                    self.assertIn("build_variables.bzl:3: fails: NameError", error)
        for name in ("scan.json", "plan.json", "page.html", "list.md"):
            self.assertIn("fails: NameError", (self.outside / name).read_text(encoding="utf-8"))
        piece = "third_device/torch_cuda/torch_cuda/core/intra_file/bytes.cpp.inc"
        self.assertIn(b"cuda \xe9", (self.outside / "out" / piece).read_bytes())

    def test_broken_trees_are_one_line_or_a_summary(self) -> None:
        loop = self.outside / "loop"
        loop.symlink_to(loop)
        (self.outside / "file").touch()
        (self.outside / "other").mkdir()
        (self.outside / "other" / "CMakeLists.txt").touch()
        for name in ("none", "file", "other", "loop", "x" * 5000):
            with self.subTest(name):
                status, out, error = self._run("scan", str(self.outside / name))
                self.assertEqual((status, out, error.count("\n")), (2, "", 1))
        make_tree(self.root, {name: text.replace("\n", "\r\n") for name, text in MINIMAL.items()})
        status, out, _ = self._run("scan", str(self.root), "--jobs", "1")
        self.assertEqual(status, 0)
        self.assertNotIn("could not be read", out)
        self.assertIn("3 translation units", out)

    def test_without_owners_the_plan_says_so(self) -> None:
        make_tree(self.root)
        with mock.patch.dict(os.environ):
            os.environ.pop("DECOUPLE_OWNERS", None)
            status, out, _ = self._run("plan", str(self.root), "--jobs", "1")
            self.assertEqual(status, 0)
            self.assertIn("no owners given", out)
            status, _, error = self._run("verify", str(self.root), "--jobs", "1")
            self.assertEqual(status, 2)
            self.assertIn("no owners are given", error)

    def test_a_device_is_written_to_and_not_replaced(self) -> None:
        make_tree(self.root)
        pipe = self.outside / "pipe"
        os.mkfifo(pipe)
        with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as end:
            status, _, error = self._run("diff", str(self.root), str(self.root), "--out", str(pipe))
            self.assertEqual((status, error), (0, ""))
            self.assertIn(b"Nothing to do", end.read(1000))
        self.assertTrue(pipe.is_fifo())

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
            "Why\n\n--- a/torch/nn.py\n+++ b/torch/nn.py\n@@ -1,2 +1,2 @@\n-class Module:\n+class M:\n"
            "     def move(self):\n"
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
