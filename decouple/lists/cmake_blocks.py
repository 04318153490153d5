"""The structure of a CMake file: commands with bodies, such as if() to endif() (cmake-language(7))."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from decouple.errors import DecoupleError
from decouple.gaps import STRICT, Gap, Gaps
from decouple.lists.cmake_syntax import Command, names_set

REFERENCE = re.compile(r"\$(?P<env>ENV)?\{(?P<name>[^${}]*)\}|\$CACHE\{(?P<cache>[^${}]*)\}")
"""A reference to a variable."""

_BLOCKS = {
    "if": "endif",
    "foreach": "endforeach",
    "while": "endwhile",
    "function": "endfunction",
    "macro": "endmacro",
}
_MIDDLE = frozenset({"elseif", "else"})
_OPENERS = {closer: opener for opener, closer in _BLOCKS.items()} | dict.fromkeys(_MIDDLE, "if")
_DEEPEST = 100


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """A command with a body: if, foreach, while, function, macro."""

    head: Command
    bodies: tuple[tuple[Command, tuple[Item, ...]], ...]
    """Each clause's command with what follows it."""


Item = Command | Block


def substitute(items: Sequence[Item], given: Mapping[str, str]) -> tuple[Item, ...]:
    """The body of a macro with its parameters replaced in the text.

    Args:
        items: the body.
        given: the values of the parameters.
    """

    def replace(command: Command) -> Command:
        arguments = tuple(
            dataclasses.replace(
                argument,
                text=REFERENCE.sub(
                    lambda match: given.get(match["name"] or "", match[0]), argument.text
                ),
            )
            for argument in command.arguments
        )
        return dataclasses.replace(command, arguments=arguments)

    return tuple(
        Block(
            replace(item.head),
            tuple((replace(clause), substitute(body, given)) for clause, body in item.bodies),
        )
        if isinstance(item, Block)
        else replace(item)
        for item in items
    )


def walk(items: Sequence[Item]) -> Iterator[Command]:
    """All commands of some items, those that open and continue blocks included."""
    for item in items:
        if not isinstance(item, Block):
            yield item
            continue
        for clause, body in item.bodies:
            yield clause
            yield from walk(body)


def affected(items: Sequence[Item]) -> set[str]:
    """The variables and targets that some items seem to set."""
    return {name for command in walk(items) for name in names_set(command)}


def nest(found: Sequence[Command], path: str, gaps: Gaps = STRICT) -> tuple[Item, ...]:
    """Puts commands between if() and endif() and their like into blocks.

    Args:
        found: the commands of a file.
        path: the file, for messages.
        gaps: takes a block that is not closed, and what closes none. Then the indentation says what belongs together.
    """
    try:
        return _Nest(path, STRICT).run(found)
    except DecoupleError:
        if gaps.strict:
            raise
        return _Nest(path, gaps).run(found)


@dataclasses.dataclass(slots=True)
class _Open:
    """A block whose end has not come yet."""

    head: Command
    clause: Command
    done: list[tuple[Command, tuple[Item, ...]]] = dataclasses.field(default_factory=list)
    items: list[Item] = dataclasses.field(default_factory=list)

    def close(self, clause: Command) -> None:
        """Ends the current clause; the next one begins."""
        self.done.append((self.clause, tuple(self.items)))
        self.clause = clause
        self.items = []


class _Nest:
    """Puts the commands of one file into blocks."""

    def __init__(self, path: str, gaps: Gaps) -> None:
        self._path = path
        self._gaps = gaps
        self._top: list[Item] = []
        self._stack: list[_Open] = []

    def run(self, found: Sequence[Command]) -> tuple[Item, ...]:
        for command in found:
            if command.name in _BLOCKS:
                if len(self._stack) < _DEEPEST:
                    self._stack.append(_Open(command, command))
                else:
                    self._lose(command, f"{command.name}() is nested too deep", "the command")
            elif command.name in _OPENERS:
                self._continue(command)
            else:
                self._items().append(command)
        while self._stack:
            self._close_unclosed(found[-1])
        return tuple(self._top)

    def _items(self) -> list[Item]:
        return self._stack[-1].items if self._stack else self._top

    def _continue(self, command: Command) -> None:
        """Ends a block, or begins its next clause."""
        place = self._place(command)
        if place is None:
            inner = self._stack[-1].head if self._stack else None
            problem = f"{command.name}() " + (
                f"stands where {_BLOCKS[inner.name]}() is needed, for {inner.name}() in line {inner.line}"
                if inner is not None
                else "closes or continues nothing"
            )
            self._lose(command, problem, "the command")
            return
        while len(self._stack) > place + 1:
            self._close_unclosed(command)
        self._stack[-1].close(command)
        if command.name not in _MIDDLE:
            self._end()

    def _place(self, command: Command) -> int | None:
        """Which of the open blocks a command belongs to."""
        opener = _OPENERS[command.name]
        places = [place for place, block in enumerate(self._stack) if block.head.name == opener]
        if self._gaps.strict:
            return places[-1] if places and places[-1] == len(self._stack) - 1 else None
        aligned = [p for p in places if self._stack[p].head.column == command.column]
        return next(reversed(aligned or places), None)

    def _close_unclosed(self, before: Command) -> None:
        """Ends a block that nothing ends."""
        block = self._stack[-1]
        block.close(before)
        names = affected([item for _, items in block.done for item in items])
        problem = f"{block.head.name}() has no {_BLOCKS[block.head.name]}()"
        skipped = f"nothing; it is taken to end before line {before.line}"
        self._gaps.add(Gap(self._path, block.head.line, problem, skipped, tuple(sorted(names))))
        self._end()

    def _end(self) -> None:
        block = self._stack.pop()
        self._items().append(Block(block.head, tuple(block.done)))

    def _lose(self, command: Command, problem: str, skipped: str) -> None:
        self._gaps.add(Gap(self._path, command.line, problem, skipped))
