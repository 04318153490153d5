"""The structure of a CMake file: commands with bodies, such as if() to endif() (cmake-language(7))."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from decouple.errors import DecoupleError
from decouple.lists.cmake_syntax import Command

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


def nest(found: Sequence[Command], path: str) -> tuple[Item, ...]:
    """Puts commands between if() and endif() and their like into blocks.

    Args:
        found: the commands of a file.
        path: the file, for messages.

    Raises:
        DecoupleError: a block is not closed, or nothing is open where one is; it names the line.
    """
    items, position = _body(found, 0, None, path)
    if position < len(found):
        stray = found[position]
        raise DecoupleError(
            f"{stray.name}() closes or continues nothing.", path=path, line=stray.line
        )
    return items


def _body(
    found: Sequence[Command], position: int, opening: Command | None, path: str
) -> tuple[tuple[Item, ...], int]:
    """The items up to the command that ends the current clause, and its position."""
    items: list[Item] = []
    while position < len(found):
        command = found[position]
        if command.name in _BLOCKS:
            block, position = _block(found, position, path)
            items.append(block)
            continue
        if command.name in _MIDDLE or command.name in _BLOCKS.values():
            return tuple(items), position
        items.append(command)
        position += 1
    if opening is not None:
        raise DecoupleError(
            f"{opening.name}() has no {_BLOCKS[opening.name]}().", path=path, line=opening.line
        )
    return tuple(items), position


def _block(found: Sequence[Command], position: int, path: str) -> tuple[Block, int]:
    """The block that starts at a position, and the position behind it."""
    head = found[position]
    bodies = []
    clause = head
    while True:
        body, position = _body(found, position + 1, head, path)
        bodies.append((clause, body))
        clause = found[position]
        if clause.name == _BLOCKS[head.name]:
            return Block(head, tuple(bodies)), position + 1
        if head.name != "if" or clause.name not in _MIDDLE:
            raise DecoupleError(
                f"{clause.name}() stands where {_BLOCKS[head.name]}() is needed, "
                f"for {head.name}() in line {head.line}.",
                path=path,
                line=clause.line,
            )
