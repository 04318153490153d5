"""The program as a vendor calls it: on libraries that are sound, on one that is not, stopped and started again.

run_test.py DESCRIBE ABI FAKE SIM
"""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import unittest.mock
from xml.etree import ElementTree

from absl.testing import absltest

_MAIN = pathlib.Path(__file__).with_name("run.py")
_DEADLINE = 240


class RunTest(absltest.TestCase):
    describe = abi = fake = sim = ""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path, "report")

    def command(self, device: str, *arguments: str) -> list[str]:
        programs = [f"--describe={self.describe}", f"--abi={self.abi}", "--programs=20"]
        return [sys.executable, str(_MAIN), *programs, "--device", device, *arguments]

    def run_it(self, device: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(device, *arguments),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=_DEADLINE,
            check=False,
        )

    def suites(self) -> dict[str, ElementTree.Element]:
        root = ElementTree.parse(self.folder / "report.xml").getroot()
        return {suite.get("name", ""): suite for suite in root}

    def test_fake_passes(self) -> None:
        done = self.run_it(self.fake, "--options", "count=2", "--report", str(self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("minimal: passed", done.stdout)
        page = (self.folder / "report.md").read_text(encoding="utf-8")
        self.assertIn("# Conformance of fake", page)
        self.assertIn("2 Fake device", page)
        suites = self.suites()
        self.assertContainsSubset(
            {"minimal.Programs", "minimal.MemoryTest", "minimal.Faults/Lost"}, suites
        )
        self.assertGreater(sum(int(suite.get("tests", "0")) for suite in suites.values()), 50)

    def test_sim_passes(self) -> None:
        done = self.run_it(self.sim, "--only", "Copies", "--only", "Programs")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("| minimal | Copies |", done.stdout)
        self.assertIn("Some subjects were left out", done.stdout)

    def test_a_library_with_faults_does_not(self) -> None:
        arguments = ("--options", "out_of_memory=1", "--only", "MemoryTest", "--only", "Errors")
        done = self.run_it(self.fake, *arguments, "--report", str(self.folder))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("minimal: failed", done.stdout)
        page = (self.folder / "report.md").read_text(encoding="utf-8")
        self.assertIn("## Failures", page)
        self.assertIn("--gtest_filter=MemoryTest.*", page)
        failures = [suite.get("failures") for suite in self.suites().values()]
        self.assertNotEqual(failures, ["0"] * len(failures))

    def test_a_run_that_was_stopped_goes_on(self) -> None:
        arguments = ("--report", str(self.folder))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(
            self.command(self.fake, *arguments),
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("2/"):
                    process.send_signal(signal.SIGTERM)
                    break
            rest = process.stdout.read()
            self.assertEqual(process.wait(_DEADLINE), 130, rest)
        self.assertIn("the same command goes on from here", rest)
        self.assertIn("not run", (self.folder / "report.md").read_text(encoding="utf-8"))
        kept = {path: path.stat().st_mtime_ns for path in (self.folder / "subjects").glob("*.xml")}
        self.assertNotEmpty(kept)
        done = self.run_it(self.fake, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(", kept)", done.stdout)
        for path, before in kept.items():
            self.assertEqual(path.stat().st_mtime_ns, before)
        # With other options nothing of it counts.
        again = self.run_it(self.fake, *arguments, "--options", "count=2", "--only", "MemoryTest")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertNotIn("kept", again.stdout)

    def test_what_cannot_be_run_is_one_message(self) -> None:
        for device, arguments, words in (
            ("/nowhere/libaccel.so", (), "found no file /nowhere/libaccel.so"),
            (str(_MAIN), (), "run.py"),
            (self.describe, (), "describe"),
            (self.fake, ("--options", "colour=red"), "colour=red"),
            (self.fake, ("--only", "Cooking"), "has no subject Cooking, but "),
            (self.fake, ("--level", "full"), "has level minimal only"),
            (self.fake, ("--torch", "2.15.0"), "//tests/conformance:stock"),
            (self.fake, ("--level", "best"), "invalid choice: 'best'"),
            (self.fake, ("--report", "/proc/report"), "/proc/report cannot be used"),
        ):
            with self.subTest(words):
                done = self.run_it(device, *arguments)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(words, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_nothing_is_left_behind(self) -> None:
        folder = self.create_tempdir().full_path
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": folder}):
            self.assertEqual(self.run_it(self.fake, "--only", "MemoryTest").returncode, 0)
        self.assertEmpty(list(pathlib.Path(folder).iterdir()))


if __name__ == "__main__":
    RunTest.describe, RunTest.abi, RunTest.fake, RunTest.sim = (
        str(pathlib.Path(path).absolute()) for path in sys.argv[1:5]
    )
    absltest.main(argv=[sys.argv[0], *sys.argv[5:]])
