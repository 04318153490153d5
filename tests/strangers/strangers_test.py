"""Journals that go on, lists of known failures, reports, and what is said where something is missing."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap
from unittest import mock
from xml.etree import ElementTree

from absl.testing import absltest

from tests.strangers import results, run, suites

_TESTS = """
    import os, pathlib, unittest
    import pytest

    RAN = pathlib.Path(__file__).with_name("ran")

    def note(name):
        with RAN.open("a") as file:
            file.write(name + "\\n")

    def test_passes():
        note("passes")

    def test_ends_the_process():
        note("ends")
        os._exit(7)

    @pytest.mark.parametrize("name", ["a b", "[c]"])
    def test_fails(name):
        note("fails")
        assert name == ""

    @pytest.mark.skip(reason="not here")
    def test_skipped():
        note("skipped")

    @pytest.mark.xfail
    def test_expected_to_fail():
        raise ValueError

    class CaseTest(unittest.TestCase):
        def test_of_which_a_part_fails(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertNotEqual(number, 1)

    def test_hangs():
        import time
        time.sleep(600)

    def test_last():
        note("last")
"""


class RunTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        (self.folder / "tests").mkdir()
        (self.folder / "record").mkdir()

    def _run(self, share: int = 100, **files: str) -> dict[str, results.Outcome]:
        paths = []
        for name, text in files.items():
            paths.append(self.folder / "tests" / f"{name}.py")
            paths[-1].write_text(textwrap.dedent(text), encoding="utf-8")
        suite = suites.Suite("some", "1", (), "tests")
        one = run.Run(
            suite,
            pathlib.Path(sys.executable),
            self.folder,
            self.folder / "record",
            2,
            dict(os.environ),
            share,
        )
        one.files(paths)
        return results.read_journal(one.journal)

    def test_each_test_has_its_outcome_whatever_the_others_do(self) -> None:
        found = self._run(test_it=_TESTS)
        outcomes = {name.removeprefix("test_it.py::"): one.outcome for name, one in found.items()}
        self.assertEqual(
            outcomes,
            {
                "test_passes": "passed",
                "test_ends_the_process": "failed",
                "test_fails[a b]": "failed",
                "test_fails[[c]]": "failed",
                "test_skipped": "skipped",
                "test_expected_to_fail": "skipped",
                "CaseTest::test_of_which_a_part_fails": "failed",
                "test_hangs": "failed",
                "test_last": "passed",
            },
        )
        self.assertIn("status 7", found["test_it.py::test_ends_the_process"].message)
        self.assertIn("Timeout", found["test_it.py::test_hangs"].message)
        ran = (self.folder / "tests" / "ran").read_text().split()
        self.assertEqual(ran, ["passes", "ends", "fails", "fails", "last"])

    def test_what_is_written_down_does_not_run_again(self) -> None:
        program = "import pathlib\ndef test_one(): pathlib.Path(__file__).with_name('ran').open('a').write('x')\n"
        first = self._run(test_one=program)
        self.assertEqual(self._run(test_one=program), first)
        # As after an interruption: the file is not done, and its test is.
        (self.folder / "record" / "done.txt").unlink()
        self.assertEqual(self._run(test_one=program), first)
        self.assertEqual((self.folder / "tests" / "ran").read_text(), "x")

    def test_attempts_that_are_made_again_do_not_count(self) -> None:
        # As pytest-rerunfailures tells them.
        (self.folder / "tests" / "conftest.py").write_text(
            textwrap.dedent("""
                from _pytest.runner import runtestprotocol

                def pytest_runtest_protocol(item, nextitem):
                    for report in runtestprotocol(item, nextitem=nextitem, log=False):
                        if report.when != "teardown":
                            report.outcome = "rerun" if report.failed else report.outcome
                            item.ihook.pytest_runtest_logreport(report=report)
                    runtestprotocol(item, nextitem=nextitem)
                    return True
            """),
            encoding="utf-8",
        )
        found = self._run(
            test_it="""
                TIMES = []

                def test_passes_then():
                    TIMES.append(1)
                    assert len(TIMES) == 2

                def test_fails():
                    assert False
            """
        )
        outcomes = {name.partition("::")[2]: one.outcome for name, one in found.items()}
        self.assertEqual(outcomes, {"test_passes_then": "passed", "test_fails": "failed"})

    def test_what_follows_on_a_device_at_fault_has_another_process(self) -> None:
        found = self._run(
            test_it="""
                import os, pathlib

                def note():
                    with pathlib.Path(__file__).with_name("ran").open("a") as file:
                        file.write(f"{os.getpid()} ")

                def test_before():
                    note()

                def test_at_fault():
                    note()
                    raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")

                def test_behind():
                    note()
            """
        )
        self.assertEqual([one.outcome for one in found.values()], ["passed", "failed", "passed"])
        before, fault, behind = (self.folder / "tests" / "ran").read_text().split()
        self.assertEqual(before, fault)
        self.assertNotEqual(fault, behind)

    def test_a_share_of_the_tests_is_the_same_each_time(self) -> None:
        program = """
            import pytest

            @pytest.mark.parametrize("number", range(60))
            def test_it(number):
                pass
        """
        some = self._run(share=30, test_it=program)
        self.assertBetween(len(some), 1, 59)
        self.assertEqual(self._run(share=30, test_it=program), some)
        every = self._run(test_it=program)
        self.assertLen(every, 60)
        self.assertContainsSubset(some, every)

    def test_a_file_that_cannot_be_imported_is_a_failure(self) -> None:
        found = self._run(
            test_import="import nothing_of_this_name\n",
            test_exit="import os\nos._exit(3)\n",
            test_other="def test_other(): pass\n",
        )
        self.assertEqual(found["test_other.py::test_other"].outcome, "passed")
        self.assertEqual(found["test_import.py"].outcome, "failed")
        self.assertIn("nothing_of_this_name", found["test_import.py"].message)
        self.assertIn("status 3", found["test_exit.py"].message)


class KnownTest(absltest.TestCase):
    TEXT = """
# It reads behind
# an array.
a.py::test_x[1]
b.py::*

# Another reason.
c.py::test_y
"""

    def test_reasons_hold_until_the_next_paragraph(self) -> None:
        known = results.read_known(self.TEXT)
        self.assertEqual(
            [(entry.pattern, entry.because) for entry in known],
            [
                ("a.py::test_x[1]", "It reads behind an array."),
                ("b.py::*", "It reads behind an array."),
                ("c.py::test_y", "Another reason."),
            ],
        )
        with self.assertRaisesRegex(ValueError, "line 3: b has no reason"):
            results.read_known("# Why.\n\nb\n")

    def test_new_failures_and_tests_that_pass_now_are_told(self) -> None:
        outcomes = {
            "a.py::test_x[1]": results.Outcome("failed"),
            "b.py::test_p": results.Outcome("passed"),
            "c.py::test_y": results.Outcome("failed"),
            "c.py::test_z": results.Outcome("failed"),
            "c.py::test_s": results.Outcome("skipped"),
        }
        found = results.compare(outcomes, results.read_known(self.TEXT))
        self.assertEqual(found.new, ("c.py::test_z",))
        self.assertEqual(found.passing, ("b.py::*",))
        self.assertEqual(found.counts, {"passed": 1, "failed": 3, "skipped": 1})
        self.assertEqual(found.share, 25)

    def test_reports_are_xml_with_the_reason_of_each_known_failure(self) -> None:
        outcomes = {
            "c.py::test_y": results.Outcome("failed", 1.5, "\x1b[31mbad\x00 <thing>"),
            "c.py::test_z": results.Outcome("failed"),
        }
        root = ElementTree.fromstring(
            results.junit("some", outcomes, results.read_known(self.TEXT))
        )
        messages = [failure.get("message") for failure in root.iter("failure")]
        self.assertEqual(messages, ["known: Another reason.", "new"])
        self.assertIn("<thing>", root.find("testcase/failure").text or "")  # type: ignore[union-attr]


class SuitesTest(absltest.TestCase):
    def test_packages_are_pinned_and_lists_have_reasons(self) -> None:
        every = suites.every()
        self.assertIn("numba-cuda", every)
        for suite in every.values():
            for package in suite.packages:
                self.assertRegex(package, r"^[a-z0-9-]+==[0-9][0-9a-z.]*$")
            if suite.known.exists():
                results.read_known(suite.known.read_text(encoding="utf-8"))
        for path in (suites.HERE / "known").glob("*.txt"):
            self.assertIn(path.stem, every)

    def test_who_lacks_a_clone_is_told_of_what(self) -> None:
        suite = suites.Suite("some", "1.2", (), "tests", repository="owner/name")
        with self.assertRaisesRegex(ValueError, "clone of owner/name at version 1.2: .*--source"):
            run.base_folder(suite, pathlib.Path(sys.executable), None)
        with self.assertRaisesRegex(ValueError, "found no folder .*nowhere/tests"):
            run.base_folder(suite, pathlib.Path(sys.executable), "nowhere")

    def test_variables_of_the_suite_count(self) -> None:
        suite = suites.Suite("some", "1", (), "tests", environment={"A": "b"})
        for devices in ("sim", "acme:2"):
            with mock.patch.dict(os.environ):
                os.environ.pop("TORCH_CUDA_DEVICES", None)
                if devices != "sim":
                    os.environ["TORCH_CUDA_DEVICES"] = devices
                found = run.variables(suite)
            self.assertEqual((found["A"], found["TORCH_CUDA_DEVICES"]), ("b", devices))


if __name__ == "__main__":
    absltest.main()
