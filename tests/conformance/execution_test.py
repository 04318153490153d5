"""Whatever becomes of a process, each of its tests has an outcome, and nothing of it is left."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap
import time
from collections.abc import Callable

from absl.testing import absltest

from tests.conformance import execution, junit
from tests.conformance.junit import Case

_XML = '<testsuites><testsuite><testcase classname="A" name="a" time="0"/></testsuite></testsuites>'


class ExecutionTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.is_stopped: Callable[[], bool] = lambda: False

    def run_program(self, program: str, seconds: int = 60) -> list[Case]:
        """What becomes of a program that finds XML and its file in `text` and `path`."""
        folder = pathlib.Path(self.create_tempdir().full_path)
        xml = folder / "a.xml"
        head = f"import os, pathlib, sys, time\ntext, path = {_XML!r}, pathlib.Path({str(xml)!r})\n"
        command = [sys.executable, "-c", head + textwrap.dedent(program)]
        self.said: list[str] = []
        return execution.run(
            command, os.environ, xml, folder / "a.log", seconds, self.said.append, self.is_stopped
        )

    def assert_process_failed(self, cases: list[Case], words: str) -> None:
        last = cases[-1]
        self.assertEqual((last.suite, last.name, last.outcome), ("", "process", junit.FAILED))
        self.assertRegex(last.message, words)

    def assert_ends(self, process: int) -> None:
        line = pathlib.Path(f"/proc/{process}/cmdline")
        for _ in range(100):
            if not line.is_file() or not line.read_bytes():
                return
            time.sleep(0.1)
        self.fail(f"process {process} still runs")

    def test_results_are_read(self) -> None:
        self.assertEqual(self.run_program("path.write_text(text)"), [Case("A", "a", junit.PASSED)])

    def test_a_crash_names_the_test_that_ran(self) -> None:
        cases = self.run_program(
            """
            print("[ RUN      ] A.a\\n[       OK ] A.a (0 ms)\\n[ RUN      ] A.b", flush=True)
            os.kill(os.getpid(), 11)
            """
        )
        self.assertLen(cases, 1)
        self.assert_process_failed(cases, "ended by SIGSEGV before .*, in A.b")

    def test_a_process_that_somebody_ended_has_no_outcome(self) -> None:
        with self.assertRaises(execution.StoppedError):
            self.run_program("os.kill(os.getpid(), 15)")

    def test_a_status_without_a_failed_test_is_a_failure(self) -> None:
        cases = self.run_program("path.write_text(text); sys.exit(3)")
        self.assertEqual(cases[0], Case("A", "a", junit.PASSED))
        self.assert_process_failed(cases, "ended with status 3 though no test had failed")

    def test_what_is_skipped_has_the_reason_that_was_said(self) -> None:
        cases = self.run_program(
            """
            print("[ REASON   ] A.a: not this: a\\n[ REASON   ] A.b: needs two: b\\n  [ SKIPPED ] A.b")
            skipped = '<testcase classname="A" name="{}" status="notrun" result="suppressed"/>'
            path.write_text(text.replace("<testcase", skipped.format("b") + skipped.format("c") + "<testcase", 1))
            """
        )
        self.assertEqual(
            cases,
            [
                Case("A", "b", junit.SKIPPED, "needs two: b"),
                Case("A", "c", junit.SKIPPED),
                Case("A", "a", junit.PASSED),
            ],
        )

    def test_no_results_and_no_tests_are_failures(self) -> None:
        self.assert_process_failed(self.run_program("print('so')"), "status 0 before(.|\n)*so")
        self.assert_process_failed(
            self.run_program("path.write_text('<testsuites/>')"), "has no tests"
        )
        self.assert_process_failed(self.run_program("path.write_text('<tests')"), "is no XML")

    def test_what_takes_too_long_is_ended_with_what_it_started(self) -> None:
        begin = time.monotonic()
        cases = self.run_program(
            """
            import subprocess
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            print(child.pid, flush=True)
            time.sleep(600)
            """,
            seconds=2,
        )
        self.assertLess(time.monotonic() - begin, 60)
        self.assert_process_failed(cases, "took longer than 2 s")
        self.assert_ends(int(cases[-1].message.split()[-1]))

    def test_a_run_is_stopped(self) -> None:
        file = pathlib.Path(self.create_tempdir().full_path) / "process"
        self.is_stopped = lambda: file.is_file() and bool(file.read_text())
        with self.assertRaises(execution.StoppedError):
            self.run_program(
                f"pathlib.Path({str(file)!r}).write_text(str(os.getpid())); time.sleep(600)"
            )
        self.assert_ends(int(file.read_text()))


if __name__ == "__main__":
    absltest.main()
