"""Stages and slices of the full build: which units, in which order, and what is said of one that fails."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time
from unittest import mock

from absl.testing import absltest, parameterized

from upstream.full import build, costs, stages

# Attention's units are those that a query of its package alone finds.
BAZELW = """\
#!/bin/sh
echo "$*" >> calls
case "$*" in
  query*//aten_cuda/attention:*)
    for unit in attention.cu cutlassF_f16.cu flash_api.cpp flash_fwd_hdim64_f16.cu flash_bwd_hdim256_f16.cu; do
      echo //aten_cuda/attention:transformers/cuda/$unit
    done ;;
  query*) printf '//c10_cuda:b\\n//c10_cuda:a\\n//c10_cuda:c\\n' ;;
  build*:c*) test ! -e broken ;;
esac
"""


# Bazel ends its compilers when it is interrupted, and takes a moment for it.
SLOW_BAZELW = """\
#!/bin/sh
trap 'sleep 1; echo ended >> calls; exit 8' INT
case "$*" in
  query*) echo //c10_cuda:a ;;
  build*) echo started >> calls; while :; do sleep 0.1; done ;;
esac
"""


class BuildTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.put_bazelw(BAZELW)
        before = pathlib.Path.cwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def put_bazelw(self, text: str) -> None:
        bazelw = self.folder / "bazelw"
        bazelw.write_text(text, encoding="utf-8")
        bazelw.chmod(bazelw.stat().st_mode | stat.S_IXUSR)

    def refused(self, *arguments: str) -> str:
        """What is said of a wrong command line, before anything is built."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err), self.assertRaises(SystemExit) as raised:
            build.main(arguments)
        self.assertEqual(raised.exception.code, 2)
        self.assertEqual(self.builds(), [])
        return err.getvalue()

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = build.main(arguments)
        return status, out.getvalue(), err.getvalue()

    def builds(self) -> list[str]:
        calls = self.folder / "calls"
        lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
        return [call.partition("--keep_going ")[2] for call in lines if call.startswith("build")]

    def test_units_are_built_in_the_order_of_their_names_and_then_linked(self) -> None:
        self.assertEqual(self.run_it("--size", "2", "--until", "operators")[0], 0)
        self.assertEqual(
            self.builds(),
            [
                "-- //c10_cuda:a //c10_cuda:b",
                "-- //c10_cuda:c",
                "--//config:attention=none -- //python:torch_cuda_wheel",
            ],
        )

    def test_each_stage_has_its_units_once(self) -> None:
        self.assertEqual(self.run_it("--size", "9")[0], 0)
        unit = "//aten_cuda/attention:transformers/cuda/"
        self.assertEqual(
            self.builds()[2:],
            [
                f"-- {unit}attention.cu {unit}cutlassF_f16.cu",
                "--//config:attention=memory-efficient -- //python:torch_cuda_wheel",
                f"-- {unit}flash_api.cpp {unit}flash_fwd_hdim64_f16.cu",
                "--//config:attention=flash-128 -- //python:torch_cuda_wheel",
                f"-- {unit}flash_bwd_hdim256_f16.cu",
                "--//config:attention=all -- //python:torch_cuda_wheel",
            ],
        )

    def test_a_slice_that_fails_is_named_and_nothing_is_linked_without_it(self) -> None:
        (self.folder / "broken").touch()
        status, out, err = self.run_it("--size", "1")
        self.assertEqual(status, 1)
        self.assertLen(self.builds(), 3)
        self.assertIn("operators, slice 2 of 3: built", out)
        self.assertIn("operators, slice 3 of 3: FAILED", out)
        self.assertEqual(err, "not built: operators, slice 3 of 3\n")

    def test_a_list_builds_nothing(self) -> None:
        status, out, _ = self.run_it("--list", "--until", "operators")
        self.assertEqual((status, self.builds()), (0, []))
        self.assertIn("operators: a, b, c", out)

    def test_options_after_two_dashes_are_bazel_s(self) -> None:
        self.run_it("--until", "operators", "--", "--jobs=1")
        self.assertStartsWith(self.builds()[0], "--jobs=1 -- ")

    def test_units_are_those_of_the_sources_that_are_built(self) -> None:
        tree = "--repo_env=PYTORCH_SOURCE_DIR=/elsewhere"
        self.run_it("--list", "--until", "operators", "--", tree, "--jobs=1")
        (query,) = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        self.assertIn(f" {tree} ", query)
        self.assertNotIn("--jobs", query)

    @parameterized.parameters("0", "-3", "many")
    def test_slices_have_units(self, size: str) -> None:
        self.assertIn(
            f"argument --size: {size} is no number of units", self.refused("--size", size)
        )

    def test_a_word_that_is_no_option_is_refused(self) -> None:
        self.assertIn("operators is no option for bazel build", self.refused("operators"))

    def test_costs_that_cannot_be_written_are_told_of_at_once(self) -> None:
        self.assertIn("No such file or directory", self.refused("--costs", "nowhere/costs.tsv"))

    def test_another_file_is_not_overwritten_with_costs(self) -> None:
        notes = self.folder / "notes.txt"
        notes.write_text("mine\n", encoding="utf-8")
        self.assertIn("notes.txt is no table of costs", self.refused("--costs", "notes.txt"))
        self.assertEqual(notes.read_text(encoding="utf-8"), "mine\n")

    def test_a_disk_that_fills_up_does_not_stop_the_build(self) -> None:
        full = OSError(28, "No space left on device")
        arguments = ("--until", "operators", "--size", "2", "--costs", "costs.tsv")
        with mock.patch.object(costs, "write", side_effect=[None, full, full]):
            status, _, err = self.run_it(*arguments)
        self.assertEqual((status, len(self.builds())), (0, 3))
        self.assertEqual(err.count("No space left on device"), 2)

    def test_an_interrupted_build_ends_bazel_and_says_how_to_go_on(self) -> None:
        self.put_bazelw(SLOW_BAZELW)
        calls = self.folder / "calls"
        process = subprocess.Popen(
            [sys.executable, "-m", "upstream.full.build", "--until", "operators"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while not calls.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        # As `kill -INT` sends it: to the driver alone.
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(calls.read_text(encoding="utf-8"), "started\nended\n")
        self.assertEqual(err, "interrupted; the same command goes on from here\n")
        self.assertEqual(process.returncode, 130)

    def test_time_left_goes_by_what_units_cost(self) -> None:
        progress = build.Progress(
            ["//a:cheap.cu", "//a:dear.cu"], {"cheap.cu": 10.0, "dear.cu": 730.0}
        )
        self.assertEqual(progress.left, "time left: not known yet")
        progress.add(["//a:cheap.cu"], 50.0)
        self.assertEqual(progress.left, "about 1 h 0 min left")

    def test_what_comes_from_the_cache_does_not_count(self) -> None:
        units = ["//a:cached.cu", "//a:built.cu", "//a:left.cu"]
        progress = build.Progress(units, dict.fromkeys(["cached.cu", "built.cu", "left.cu"], 100.0))
        progress.add(units[:1], 1.0)
        self.assertEqual(progress.left, "time left: not known yet")
        progress.add(units[1:2], 60.0)
        self.assertEqual(progress.left, "about 0 h 1 min left")

    def test_an_unknown_unit_counts_as_the_usual_one(self) -> None:
        progress = build.Progress(["//a:known.cu", "//a:new.cu"], {"known.cu": 60.0})
        progress.add(["//a:known.cu"], 120.0)
        self.assertEqual(progress.left, "about 0 h 2 min left")

    def test_stages_are_the_values_of_the_setting(self) -> None:
        self.assertEqual(
            [stage.attention for stage in stages.STAGES],
            ["none", "memory-efficient", "flash-128", "all"],
        )


if __name__ == "__main__":
    absltest.main()
