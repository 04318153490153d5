"""Outcomes of tests, and JUnit's XML, which gtest and absltest write and continuous integration reads."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"

# What XML 1.0 cannot hold.
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """What became of one test.

    Attributes:
        suite: such as "Memory"; may be empty.
        name: such as "IsAligned".
        outcome: PASSED, FAILED or SKIPPED.
        message: why it failed or was skipped.
        seconds: how long it took.
    """

    suite: str
    name: str
    outcome: str
    message: str = ""
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """Suite and name."""
        return f"{self.suite}.{self.name}".lstrip(".")


def read(path: pathlib.Path) -> list[Case]:
    """The tests of a file.

    Args:
        path: of XML that gtest, absltest or `write` wrote.

    Raises:
        ValueError: it is no such XML.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as wrong:
        raise ValueError(f"{path} is no XML: {wrong}") from wrong
    return [_case(element) for element in root.iter("testcase")]


def _case(element: ElementTree.Element) -> Case:
    # absltest and `write` have more in front.
    suite = element.get("classname", "").rsplit(".", 1)[-1]
    name = element.get("name", "")
    seconds = float(element.get("time") or 0)
    bad = [*element.findall("failure"), *element.findall("error")]
    if bad:
        return Case(suite, name, FAILED, "\n".join(map(_message, bad)), seconds)
    skipped = element.find("skipped")
    if skipped is not None:
        text = skipped.get("message") or skipped.text or ""
        # gtest puts the place in front, a line of its own.
        return Case(suite, name, SKIPPED, text.strip().split("\n", 1)[-1], seconds)
    if element.get("status") == "notrun" or element.get("result") in ("skipped", "suppressed"):
        return Case(suite, name, SKIPPED, "", seconds)
    return Case(suite, name, PASSED, "", seconds)


def _message(element: ElementTree.Element) -> str:
    """What is wrong: gtest's text says all of it, absltest's has the way there without what it came to."""
    short, text = (element.get("message") or "").strip(), (element.text or "").strip()
    return text if text.startswith(short) else f"{short}\n{text}".strip()


def suite_of(name: str, cases: Iterable[Case]) -> ElementTree.Element:
    """The element of some tests.

    Args:
        name: of the suite.
        cases: its tests.
    """
    cases = list(cases)
    element = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(case.outcome == FAILED for case in cases)),
        errors="0",
        skipped=str(sum(case.outcome == SKIPPED for case in cases)),
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        one = ElementTree.SubElement(
            element,
            "testcase",
            classname=f"{name}.{case.suite}",
            name=case.name,
            time=f"{case.seconds:.3f}",
        )
        message = _UNFIT.sub("?", case.message)
        if case.outcome == FAILED:
            first = message.partition("\n")[0]
            ElementTree.SubElement(one, "failure", message=first).text = message
        elif case.outcome == SKIPPED:
            ElementTree.SubElement(one, "skipped", message=message)
    return element


def write(path: pathlib.Path, suites: Iterable[ElementTree.Element]) -> None:
    """Writes suites as one file, whole or not at all.

    Args:
        path: of the file.
        suites: what `suite_of` gave.
    """
    root = ElementTree.Element("testsuites")
    root.extend(suites)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(each.get(count, "0")) for each in root)))
    ElementTree.indent(root)
    partial = path.with_name(path.name + ".partial")
    ElementTree.ElementTree(root).write(partial, encoding="utf-8", xml_declaration=True)
    partial.replace(path)
