"""Reading and writing unified diffs, as git and GNU diff write them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from decouple.errors import DecoupleError
from decouple.text_edits import LineChange, split_lines

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_NO_NEWLINE = "\\ No newline at end of file"
_NOWHERE = "/dev/null"


@dataclasses.dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that are replaced, with the lines around them."""

    header: str
    """The line that begins with @@."""
    number: int
    """Which hunk of its file it is, from 1."""
    old_line: int
    """First line of `old` in the file that the patch was made for, from 1."""
    new_line: int
    old: tuple[str, ...]
    """Lines before, context included, with their ends."""
    new: tuple[str, ...]
    leading: int
    """Lines of context before the first change."""

    def reversed(self) -> Hunk:
        """The hunk that takes this one back."""
        return dataclasses.replace(
            self, old=self.new, new=self.old, old_line=self.new_line, new_line=self.old_line
        )


@dataclasses.dataclass(frozen=True, slots=True)
class FileDiff:
    """What a patch does to one file."""

    path: str
    """The file before."""
    hunks: tuple[Hunk, ...]
    creates: bool = False
    deletes: bool = False
    renamed: str = ""
    """The path afterwards, where it is another one."""

    @property
    def new_path(self) -> str:
        """The file afterwards."""
        return self.renamed or self.path

    def reversed(self) -> FileDiff:
        """What takes it back."""
        return FileDiff(
            self.new_path,
            tuple(hunk.reversed() for hunk in self.hunks),
            creates=self.deletes,
            deletes=self.creates,
            renamed=self.path if self.renamed else "",
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Patch:
    """A patch file: why, and what."""

    name: str
    head: str
    """The text before the first file: the reason."""
    files: tuple[FileDiff, ...]

    @property
    def subject(self) -> str:
        """The first line of the reason, without the words that `git format-patch` puts before it."""
        lines = self.head.splitlines()
        named = [line for line in lines if line.startswith("Subject:")]
        line = named[0].removeprefix("Subject:") if named else next(iter(lines), "")
        return re.sub(r"^\s*\[PATCH[^\]]*\]\s*", "", line).strip()

    def reversed(self) -> Patch:
        """The patch that takes this one back."""
        return Patch(self.name, self.head, tuple(file.reversed() for file in reversed(self.files)))


def parse(text: str, name: str) -> Patch:
    """Reads a patch.

    Args:
        text: its text.
        name: its file, for messages.

    Raises:
        DecoupleError: it is not a unified diff; it names the line.
    """
    lines = split_lines(text)
    first = next(
        (
            number
            for number, line in enumerate(lines)
            if line.startswith(("diff --git ", "--- ")) and _begins_file(lines, number)
        ),
        None,
    )
    if first is None:
        raise DecoupleError(
            'has no "--- FILE" and "+++ FILE" lines: it is no unified diff.', path=name
        )
    head = "".join(lines[:first]).removesuffix("---\n")
    return Patch(name, head, tuple(_Reader(lines, first, name).files()))


def _begins_file(lines: Sequence[str], number: int) -> bool:
    """Whether a line that may be prose begins a file's part."""
    if lines[number].startswith("diff --git "):
        return True
    return number + 1 < len(lines) and lines[number + 1].startswith("+++ ")


class _Reader:
    """Goes through the lines of a patch."""

    def __init__(self, lines: Sequence[str], position: int, name: str) -> None:
        self._lines = lines
        self._at = position
        self._name = name

    def files(self) -> Iterator[FileDiff]:
        """Reads one file's part after the other."""
        while self._at < len(self._lines):
            if self._peek().startswith("diff --git "):
                yield self._git_file()
            elif self._peek().startswith("--- ") and self._peek(1).startswith("+++ "):
                yield self._file()
            else:
                self._at += 1

    def _git_file(self) -> FileDiff:
        """A part that git wrote: it may rename a file, or make or delete an empty one, without any hunk."""
        start = self._at
        self._at += 1
        renamed: dict[str, str] = {}
        while self._at < len(self._lines):
            line = self._peek()
            if line.startswith("--- ") and self._peek(1).startswith("+++ "):
                file = self._file()
                if not renamed:
                    return file
                return dataclasses.replace(file, path=renamed["from"], renamed=renamed["to"])
            if line.startswith("diff --git "):
                break
            if line.startswith(("GIT binary patch", "Binary files ")):
                self._fail("is a binary patch; only patches of text can be applied.")
            if line.startswith(("old mode ", "new mode ", "copy from ")):
                self._fail("changes a mode or copies a file; only text and names can be patched.")
            if line.startswith(("rename from ", "rename to ")):
                which = "from" if line.startswith("rename from ") else "to"
                renamed[which] = self._path(f"rename {which} ", prefixed=False)
            else:
                self._at += 1
        if {"from", "to"} <= renamed.keys():
            return FileDiff(renamed["from"], (), renamed=renamed["to"])
        kinds = {line.split(" ", 1)[0] for line in self._lines[start + 1 : self._at]}
        end, self._at = self._at, start
        path = self._path_of_both()
        if not kinds & {"new", "deleted"}:
            self._at = start
            self._fail("a hunk that begins with @@ is needed for this file.")
        self._at = end
        return FileDiff(path, (), creates="new" in kinds, deletes="deleted" in kinds)

    def _path_of_both(self) -> str:
        """The path in a line `diff --git a/PATH b/PATH`: the same twice."""
        names = self._peek().removeprefix("diff --git ").rstrip("\n")
        half = len(names) // 2
        return self._cleaned(names[half + 1 :], prefixed=True)

    def _file(self) -> FileDiff:
        old, new = self._path("--- "), self._path("+++ ")
        if old == new == _NOWHERE:
            self._fail("names no file.")
        hunks: list[Hunk] = []
        while self._peek().startswith("@@"):
            hunks.append(self._hunk(len(hunks) + 1))
        if not hunks:
            self._fail("a hunk that begins with @@ is needed here.")
        return FileDiff(
            new if old == _NOWHERE else old,
            tuple(hunks),
            creates=old == _NOWHERE,
            deletes=new == _NOWHERE,
        )

    def _path(self, prefix: str, *, prefixed: bool = True) -> str:
        """The path in a line, without the folder a/ or b/ where that is put before it."""
        name = self._peek().removeprefix(prefix).rstrip("\n").partition("\t")[0]
        self._at += 1
        return self._cleaned(name, prefixed=prefixed)

    def _cleaned(self, name: str, *, prefixed: bool) -> str:
        """A path as the tree has it."""
        if name.startswith('"') and name.endswith('"'):
            name = _unquoted(name[1:-1])
        if name == _NOWHERE:
            return name
        path = name.partition("/")[2] if prefixed and name.startswith(("a/", "b/")) else name
        if path.startswith("/") or ".." in path.split("/") or not path:
            self._fail(f"{name} is outside of the tree.")
        return path

    def _hunk(self, number: int) -> Hunk:
        header = self._peek().rstrip("\n")
        match = _HUNK.match(header)
        if match is None:
            self._fail("is no hunk header such as @@ -1,3 +1,4 @@.")
        self._at += 1
        old_left, new_left = int(match[2] or 1), int(match[4] or 1)
        old: list[str] = []
        new: list[str] = []
        leading = 0
        changed = False
        while old_left > 0 or new_left > 0:
            line = self._peek()
            mark, content = line[:1], line[1:]
            if mark not in (" ", "-", "+", "\n") or not line:
                self._fail("the hunk is shorter than its header says.")
            if mark == "\n":  # an empty line of context, whose blank an editor took away
                mark, content = " ", "\n"
            self._at += 1
            if self._peek().startswith("\\"):
                content = content.removesuffix("\n")
                self._at += 1
            if mark in " -":
                old.append(content)
                old_left -= 1
            if mark in " +":
                new.append(content)
                new_left -= 1
            changed = changed or mark != " "
            leading += 0 if changed else 1
        behind = self._peek()
        longer = behind.startswith((" ", "+", "-")) and not behind.startswith(("-- ", "--- "))
        if old_left < 0 or new_left < 0 or (longer and behind.rstrip("\n") != "--"):
            self._fail("the hunk is longer than its header says.")
        # Where nothing stands, only an empty file can be meant: it could be put in and taken out anywhere else.
        if (not old and int(match[1])) or (not new and int(match[3])):
            self._at -= 1
            self._fail("the hunk has no context; make the patch with lines around each change.")
        return Hunk(header, number, int(match[1]), int(match[3]), tuple(old), tuple(new), leading)

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def _fail(self, message: str) -> NoReturn:
        raise DecoupleError(message, path=self._name, line=min(self._at + 1, len(self._lines)))


def _unquoted(name: str) -> str:
    """A path that git put in quotes: its bytes that are not printable are octal."""
    escaped = re.sub(
        r"[^\x00-\x7f]", lambda match: "".join(f"\\{b:03o}" for b in match[0].encode()), name
    )
    return escaped.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def render(path: str, text: str, changes: Iterable[LineChange], context: int = 3) -> str:
    """Writes a unified diff of one file.

    Args:
        path: the file, relative to the tree.
        text: the file before.
        changes: what changes, in order.
        context: lines around each change.
    """
    lines = split_lines(text)
    groups: list[list[LineChange]] = []
    for change in changes:
        if groups:
            last = groups[-1][-1]
            if change.first_line - (last.first_line + len(last.old)) <= 2 * context:
                groups[-1].append(change)
                continue
        groups.append([change])
    output = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    shift = 0
    for group in groups:
        first = group[0].first_line - 1
        behind = group[-1].first_line - 1 + len(group[-1].old)
        begin, end = max(first - context, 0), min(behind + context, len(lines))
        body: list[str] = []
        position = begin
        grown = 0
        for change in group:
            at = change.first_line - 1
            body += [" " + line for line in lines[position:at]]
            body += ["-" + line for line in change.old] + ["+" + line for line in change.new]
            position = at + len(change.old)
            grown += len(change.new) - len(change.old)
        body += [" " + line for line in lines[position:end]]
        old_count, new_count = end - begin, end - begin + grown
        old_start = begin + 1 if old_count else begin
        new_start = begin + shift + 1 if new_count else begin + shift
        output.append(f"@@ -{old_start},{old_count} +{new_start},{new_count} @@\n")
        output += [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n" for line in body]
        shift += grown
    return "".join(output)
