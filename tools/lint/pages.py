"""The rules for pages of Markdown: words that the glossary retires, long lines, links to nothing.

docs/architecture.md has the glossary; its table of retired words is read from there. Words and lines are checked in
README.md, CONTRIBUTING.md and docs/, links in every page of the workspace. Rows of tables and blocks of code may be
long, as Markdown cannot wrap them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath

from tools.lint.rules import Fault

MAX_LINE = 120
GLOSSARY = PurePath("docs/architecture.md")

_RETIRED = re.compile(
    r"^\| retired \| write instead \|\n\|---\|---\|\n(?P<rows>(?:\|.*\n)*)", re.MULTILINE
)
_ROW = re.compile(r"^\| (?P<words>[^|]+) \| (?P<instead>[^|]+) \|$", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^#+ +(?P<text>.+?) *$", re.MULTILINE)
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:|@")


def is_page(path: PurePath) -> bool:
    """Whether it is Markdown of this repository, and not somebody else's."""
    return path.suffix == ".md" and path.parts[0] != "third_party"


def is_documentation(path: PurePath) -> bool:
    """Whether it is a page whose words and lines are checked; the guide's Chinese pages are none."""
    if path in (PurePath("README.md"), PurePath("CONTRIBUTING.md")):
        return True
    return path.parts[0] == "docs" and "zh" not in path.parts


def retired(glossary: str) -> dict[str, str]:
    """The words that are retired, each with what is written instead.

    Args:
        glossary: the text of the page with the glossary. A row of the table is `| WORD, WORD | INSTEAD |`.
    """
    table = _RETIRED.search(glossary)
    return {
        word.strip(): row["instead"]
        for row in _ROW.finditer(table["rows"] if table else "")
        for word in row["words"].split(",")
    }


def check(texts: Mapping[PurePath, str], paths: Collection[PurePath]) -> Iterator[Fault]:
    """The faults of all pages.

    Args:
        texts: the pages of the workspace by their paths.
        paths: all files of the workspace.
    """
    words = retired(texts.get(GLOSSARY, ""))
    if not words:
        what = "has no table of retired words; it begins with | retired | write instead |"
        yield Fault(str(GLOSSARY), "words", what)
    known = {*paths, *(folder for path in paths for folder in path.parents)}
    for path, text in sorted(texts.items()):
        if is_documentation(path):
            yield from _wording(path, text, words)
            yield from _lengths(path, text)
        yield from _links(path, text, texts, known)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside blocks of code, with their numbers from 1."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _wording(path: PurePath, text: str, words: Mapping[str, str]) -> Iterator[Fault]:
    table = _RETIRED.search(text) if path == GLOSSARY else None
    rows = table["rows"].splitlines() if table else []
    for number, line in prose(text):
        if line in rows:
            continue
        spoken = _CODE.sub("", line)
        for word, instead in words.items():
            if re.search(rf"\b{re.escape(word)}s?\b", spoken, re.IGNORECASE):
                what = f'line {number}: "{word}" is retired; write "{instead}" ({GLOSSARY}, Words)'
                yield Fault(str(path), "words", what)


def _lengths(path: PurePath, text: str) -> Iterator[Fault]:
    for number, line in prose(text):
        if len(line) > MAX_LINE and not line.startswith("|") and " " in line.strip():
            yield Fault(
                str(path), "lines", f"line {number}: over {MAX_LINE} characters; wrap the text"
            )


def _links(
    path: PurePath, text: str, texts: Mapping[PurePath, str], known: Collection[PurePath]
) -> Iterator[Fault]:
    for number, line in prose(text):
        for link in _LINK.finditer(_CODE.sub("", line)):
            target, _, name = link["target"].partition("#")
            if _ELSEWHERE.search(target):
                continue
            to = PurePath(os.path.normpath(path.parent / target)) if target else path
            if to not in known:
                yield Fault(str(path), "links", f"line {number}: {to} does not exist")
            elif name and to in texts and name not in _anchors(texts[to]):
                yield Fault(str(path), "links", f"line {number}: {to} has no heading #{name}")


def anchor(heading: str) -> str:
    """The name that GitHub gives a heading, of which a page has one.

    Args:
        heading: its text.
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _anchors(text: str) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = _HEADING.finditer("\n".join(line for _, line in prose(text)))
    return {anchor(heading["text"]) for heading in headings}
