"""The report says of each level and subject what became of it, in tables that others read."""

from __future__ import annotations

import pathlib
import re
from xml.etree import ElementTree

from absl.testing import absltest, parameterized

from tests.conformance import capabilities, junit, report, subjects
from tests.conformance.device import Device
from tests.conformance.junit import Case
from tests.conformance.report import Outcome
from tests.conformance.subjects import DISTRIBUTED, FULL, MINIMAL, TRAINING, Subject

_DEVICE = Device(
    pathlib.Path("/opt/libaccel_a.so"),
    "count=2",
    "a",
    ("One | two", "One | two"),
    (frozenset({"ACCEL_CAP_IPC", "ACCEL_CAP_PEER"}), frozenset({"ACCEL_CAP_IPC"})),
)


def outcome(level: str, passed: int, failed: int = 0, rate: float = 1.0, **named: str) -> Outcome:
    """One with so many tests."""
    cases = [Case("A", f"p{n}", junit.PASSED, "", 0.5) for n in range(passed)]
    cases += [Case("A", f"f{n}", junit.FAILED, f"expected | 1\nline {n}") for n in range(failed)]
    return Outcome(Subject(level, "subject", (), rate=rate), cases, **named)


def absent(level: str) -> Outcome:
    """One that the device lacks something for."""
    return Outcome(Subject(level, "subject", ()), None, "needs ACCEL_CAP_IPC")


def tables(page: str) -> list[list[dict[str, str]]]:
    """The tables of a page: rows, by the heads of their columns. A bar with a stroke before it is text."""
    found: list[list[list[str]]] = []
    before = ""
    for line in page.splitlines():
        if line.startswith("|"):
            cells = [
                cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]
            ]
            if not before.startswith("|"):
                found.append([])
            found[-1].append(cells)
        before = line
    return [
        [dict(zip(table[0], row, strict=True)) for row in table[2:]]
        for table in found
        if all(set(cell) == {"-"} for cell in table[1])
    ]


class ReportTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("one", (outcome(MINIMAL, 3),), {MINIMAL: "passed"}),
        (
            "the_one_below",
            (outcome(MINIMAL, 3, 1), outcome(TRAINING, 2)),
            {MINIMAL: "failed", TRAINING: "failed"},
        ),
        (
            "absent",
            (outcome(MINIMAL, 3), absent(DISTRIBUTED)),
            {MINIMAL: "passed", DISTRIBUTED: "absent"},
        ),
        (
            "absent_below",
            (absent(DISTRIBUTED), outcome(FULL, 9)),
            {DISTRIBUTED: "absent", FULL: "absent"},
        ),
        (
            "failed_and_absent",
            (absent(DISTRIBUTED), outcome(FULL, 9, 9)),
            {DISTRIBUTED: "absent", FULL: "failed"},
        ),
        ("enough_of_a_file", (outcome(TRAINING, 95, 5, 0.95),), {TRAINING: "passed"}),
        ("too_little_of_a_file", (outcome(TRAINING, 94, 6, 0.95),), {TRAINING: "failed"}),
        ("not_all", (outcome(TRAINING, 99, 1),), {TRAINING: "failed"}),
        ("not_run", (Outcome(Subject(MINIMAL, "a", ()), None),), {MINIMAL: "not run"}),
    )
    def test_a_level_is_as_good_as_the_worst_up_to_it(
        self, outcomes: tuple[Outcome, ...], expected: dict[str, str]
    ) -> None:
        self.assertEqual(report.results(outcomes), expected)

    def test_a_process_that_failed_is_not_made_up_for(self) -> None:
        cases = [Case("A", f"p{n}", junit.PASSED) for n in range(99)]
        cases.append(Case("", "process", junit.FAILED, "ended"))
        self.assertEqual(Outcome(Subject(FULL, "a", (), rate=0.9), cases).result, "failed")

    def test_the_page_has_each_subject_and_level(self) -> None:
        outcomes = [outcome(MINIMAL, 3, 1, repeat="type | this"), absent(DISTRIBUTED)]
        page = report.markdown(_DEVICE, outcomes, partly=False)
        levels, rows, _ = tables(page)
        self.assertEqual({row["level"]: row["result"] for row in levels}, report.results(outcomes))
        self.assertEqual(
            rows[0],
            {
                "level": "minimal",
                "subject": "subject",
                "passed": "3",
                "failed": "1",
                "skipped": "0",
                "seconds": "1.5",
                "result": "failed",
            },
        )
        self.assertEqual(rows[1]["result"], "absent: needs ACCEL_CAP_IPC")
        self.assertIn("To repeat it: `type | this`", page)
        self.assertIn("    expected | 1\n    line 0", page)
        self.assertNotIn("left out", page)
        self.assertIn("left out", report.markdown(_DEVICE, outcomes, partly=True))

    def test_the_page_says_what_a_missing_capability_means(self) -> None:
        rows = tables(report.markdown(_DEVICE, [outcome(MINIMAL, 1)], partly=False))[2]
        found = {row["capability"].strip("`"): row for row in rows}
        self.assertEqual(list(found), list(capabilities.WITHOUT))
        self.assertEqual(found["ACCEL_CAP_IPC"]["there"], "yes")
        self.assertEqual(found["ACCEL_CAP_PEER"]["there"], "not device 1")
        self.assertEqual(found["ACCEL_CAP_CODE"]["there"], "no")
        self.assertEqual(found["ACCEL_CAP_CODE"]["so"], capabilities.WITHOUT["ACCEL_CAP_CODE"])

    def test_the_page_says_what_was_skipped_and_why(self) -> None:
        skipped = [
            Case("A", f"s{n}", junit.SKIPPED, why)
            for n, why in enumerate(("two | a", "b", "two | a", ""))
        ]
        some = Outcome(Subject(MINIMAL, "subject", ()), [*skipped, Case("A", "a", junit.PASSED)])
        upstream = Outcome(Subject(FULL, "test_a.py", (), rate=0.95), skipped)
        page = report.markdown(_DEVICE, [outcome(MINIMAL, 1), some, upstream], partly=False)
        rows = tables(page.partition("## Skipped")[2])[0]
        self.assertEqual(
            [(row["subject"], row["tests"], row["why"]) for row in rows],
            [("subject", "2", "two | a"), ("subject", "1", "b")],
        )
        self.assertNotIn(
            "## Skipped", report.markdown(_DEVICE, [outcome(MINIMAL, 1)], partly=False)
        )

    def test_capabilities_are_those_of_the_header(self) -> None:
        header = pathlib.Path("device/abi/device_api.h").read_text(encoding="utf-8")
        named = re.findall(r"^  (ACCEL_CAP_\w+) = 1 << \d+,?$", header, re.MULTILINE)
        self.assertEqual(list(capabilities.WITHOUT), named)

    def test_long_failures_are_cut_in_the_page_alone(self) -> None:
        text = "\n".join(f"line {number}." for number in range(100))
        long = Outcome(Subject(MINIMAL, "a", ()), [Case("A", "a", junit.FAILED, text)])
        page = report.markdown(_DEVICE, [long], partly=False)
        self.assertIn("line 0.", page)
        self.assertIn("line 99.", page)
        self.assertNotIn("line 50.", page)
        path = pathlib.Path(self.create_tempdir().full_path, "report.xml")
        report.xml(path, [long, absent(DISTRIBUTED)])
        root = ElementTree.parse(path).getroot()
        failure, skipped = root.find(".//failure"), root.find(".//skipped")
        assert failure is not None and skipped is not None
        self.assertEqual(failure.text, text)
        self.assertEqual(skipped.get("message"), "needs ACCEL_CAP_IPC")
        self.assertEqual(
            [suite.get("name") for suite in root], ["minimal.a", "distributed.subject"]
        )

    def test_levels_are_a_tower(self) -> None:
        self.assertEqual(subjects.up_to(MINIMAL), (MINIMAL,))
        self.assertEqual(subjects.up_to(FULL), (MINIMAL, TRAINING, DISTRIBUTED, FULL))


if __name__ == "__main__":
    absltest.main()
