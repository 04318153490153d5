"""JUnit's XML of gtest, of absltest and of our own is read, and ours is read by others."""

from __future__ import annotations

import pathlib
from xml.etree import ElementTree

from absl.testing import absltest

from tests.conformance import junit
from tests.conformance.junit import Case

_GTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" name="AllTests">
  <testsuite name="Memory" tests="3" failures="1">
    <testcase name="Lasts" status="run" result="completed" time="0.5" classname="Memory" />
    <testcase name="Ends" status="run" result="completed" time="0" classname="Memory">
      <failure message="memory_test.cpp:7&#x0A;expected 1" type=""><![CDATA[memory_test.cpp:7
expected 1]]></failure>
    </testcase>
    <testcase name="IsShared" status="run" result="skipped" time="0" classname="Memory">
      <skipped message="memory_test.cpp:9&#x0A;device 0 has no PEER"><![CDATA[...]]></skipped>
    </testcase>
  </testsuite>
</testsuites>"""

_ABSL = """<?xml version="1.0"?>
<testsuites name="" tests="3" failures="0" errors="1" time="1" timestamp="">
<testsuite name="StreamsTest" tests="3" failures="0" errors="1" time="1" timestamp="">
  <testcase name="test_one" status="run" result="completed" time="1.5" classname="__main__.StreamsTest">
  </testcase>
  <testcase name="test_two" status="run" result="completed" time="0" classname="__main__.StreamsTest">
  <error message="no device" type="&lt;class &apos;RuntimeError&apos;&gt;"><![CDATA[Traceback]]></error>
  </testcase>
  <testcase name="test_three" status="notrun" result="suppressed" time="0" classname="__main__.StreamsTest">
  </testcase>
</testsuite>
</testsuites>"""


class JunitTest(absltest.TestCase):
    def read(self, text: str) -> list[Case]:
        return junit.read(pathlib.Path(self.create_tempfile(content=text).full_path))

    def test_gtest_s(self) -> None:
        self.assertEqual(
            self.read(_GTEST),
            [
                Case("Memory", "Lasts", junit.PASSED, "", 0.5),
                Case("Memory", "Ends", junit.FAILED, "memory_test.cpp:7\nexpected 1"),
                Case("Memory", "IsShared", junit.SKIPPED, "device 0 has no PEER"),
            ],
        )

    def test_absltest_s(self) -> None:
        self.assertEqual(
            self.read(_ABSL),
            [
                Case("StreamsTest", "test_one", junit.PASSED, "", 1.5),
                Case("StreamsTest", "test_two", junit.FAILED, "no device\nTraceback"),
                Case("StreamsTest", "test_three", junit.SKIPPED),
            ],
        )

    def test_what_is_no_xml_is_told(self) -> None:
        for text in ("", "<testsuites><testsuite", "Memory: 3 passed"):
            with self.assertRaisesRegex(ValueError, "is no XML"):
                self.read(text)

    def test_ours_comes_back(self) -> None:
        cases = [
            Case("Memory", "Lasts", junit.PASSED, "", 0.25),
            Case("Memory", "of.1.0 (float)", junit.FAILED, 'a < b & "c"\nsecond line', 1.0),
            Case("", "process", junit.FAILED, "ended"),
            Case("Peers", "Reach", junit.SKIPPED, "needs two"),
        ]
        path = pathlib.Path(self.create_tempdir().full_path, "a.xml")
        junit.write(path, [junit.suite_of("minimal.Memory", cases)])
        again = junit.read(path)
        self.assertEqual(again[1:2] + again[3:], cases[1:2] + cases[3:])
        self.assertEqual([case.outcome for case in again], [case.outcome for case in cases])
        self.assertEqual(list(path.parent.iterdir()), [path])

    def test_counts_and_characters_are_what_readers_expect(self) -> None:
        message = "colour \x1b[31m, nothing \x00, half a pair \ud800"
        cases = [Case("A", "a", junit.FAILED, message), Case("A", "b", junit.PASSED)]
        path = pathlib.Path(self.create_tempdir().full_path, "a.xml")
        junit.write(path, [junit.suite_of("one", cases), junit.suite_of("two", cases[1:])])
        root = ElementTree.parse(path).getroot()
        self.assertEqual(
            (root.tag, root.get("tests"), root.get("failures")), ("testsuites", "3", "1")
        )
        self.assertEqual([each.get("name") for each in root], ["one", "two"])
        failure = root.find(".//failure")
        assert failure is not None
        self.assertIn("colour ?[31m", failure.text or "")


if __name__ == "__main__":
    absltest.main()
