"""Keeps the evaluation of a .bzl file small: what it does is counted, and values may not grow without end."""

from __future__ import annotations

import operator
import re
import string
from collections.abc import Callable, Iterable, Sized
from typing import Any

LONGEST = 1_000_000
"""Elements and characters that a value may have."""
_MOST_DIGITS = 4_000  # bits of a number
_MOST_STEPS = 2_000_000  # of a statement
_MOST_STATEMENTS = 20  # that take all of these
# "%9999999d" is a text of that many characters.
_WIDTH = re.compile(r"%[^A-Za-z%]*(?:\d{4}|\*)")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mod": operator.mod,
    "FloorDiv": operator.floordiv,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
}


class Exhausted(Exception):
    """A file has taken all the steps that it has."""


class Budget:
    """The steps that a file may take; one is an element that is looked at, or a hundred characters."""

    def __init__(self) -> None:
        self._spent = 0
        self._left = _MOST_STATEMENTS

    def begin(self) -> None:
        """Begins a statement at the top of the file.

        Raises:
            Exhausted: others have taken too many steps.
        """
        if self._left <= 0:
            raise Exhausted
        self._spent = 0

    def spend(self, steps: int) -> bool:
        """Counts some steps; returns True, so that it can be a condition.

        Raises:
            ValueError: the statement has taken too many.
        """
        self._spent += steps
        if self._spent > _MOST_STEPS:
            self._left -= 1
            self._spent = 0
            raise ValueError(f"it takes more than {_MOST_STEPS} steps")
        return True

    def sized(self, value: Any) -> Any:
        """A value, after all that is in it has been counted, as often as it is."""
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                self.spend(1 + len(part) // 100)
            elif isinstance(part, int):
                if part.bit_length() > _MOST_DIGITS:
                    raise ValueError("the number is too large")
                self.spend(1)
            elif isinstance(part, dict):
                self.spend(1 + len(part))
                waiting += [*part.keys(), *part.values()]
            elif isinstance(part, (list, tuple)):
                self.spend(1 + len(part))
                waiting += part
            else:
                self.spend(1 + (len(part) if isinstance(part, Sized) else 0))
        return value

    def operate(self, name: str, left: Any, right: Any) -> Any:
        """The result of an operator, one of Python's syntax tree."""
        self.sized(left)
        self.sized(right)
        if name == "Mult":
            return self._multiply(left, right)
        if name == "Mod" and isinstance(left, str):
            if _WIDTH.search(left):
                raise ValueError(f"the width in '{left[:40]}' is too large")
            self._grow(len(left) * (1 + _length(right)))
        return self.sized(_OPERATORS[name](left, right))

    def operate_in_place(self, name: str, left: Any, right: Any) -> Any:
        """The same for "+=" and its like: a list stays the list that it is."""
        if name == "Add" and isinstance(left, list):
            self.sized(left)
            left += self.sized(right)
            return left
        return self.operate(name, left, right)

    def call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """The result of a call."""
        self.sized(arguments)
        self.sized(named)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str):
            self._check_method(owner, getattr(function, "__name__", ""), arguments)
        elif isinstance(owner, (list, dict)) and function.__name__ not in ("append", "get"):
            self.sized(owner)
        result = function(*arguments, **named)
        # What is of no size yet, such as the pairs of zip(), is counted where it is gone through.
        return self.sized(result) if isinstance(result, (str, list, tuple, dict)) else result

    def _check_method(self, owner: str, method: str, arguments: tuple[Any, ...]) -> None:
        self.spend(len(owner) // 100)
        if method == "replace" and len(arguments) > 1:
            self._grow((len(owner) + 1) * (1 + _length(arguments[1])))
        elif method == "join" and arguments and isinstance(arguments[0], Sized):
            self._grow(len(owner) * len(arguments[0]))

    def _multiply(self, left: Any, right: Any) -> Any:
        """A product that stays small: a file cannot fill the memory."""
        for value, times in ((left, right), (right, left)):
            if (
                isinstance(value, (str, list, tuple))
                and isinstance(times, int)
                and len(value) * times > LONGEST
            ):
                raise ValueError("the product is too long")
        return self.sized(left * right)

    def formatter(self, text: Any) -> Callable[..., str]:
        """The `format` of a string, without Python's access to attributes."""

        def apply(*arguments: Any, **named: Any) -> str:
            if not isinstance(text, str):
                raise TypeError("only strings have format")
            longest = max(map(_length, [*arguments, *named.values()]), default=0)
            self._grow(len(text) * (1 + longest))
            for _, field, spec, _ in string.Formatter().parse(text):
                if (field and not field.replace("_", "a").isalnum()) or spec:
                    raise ValueError(f"the field '{{{field}}}' is not Starlark")
            return text.format(*arguments, **named)

        return apply

    def _grow(self, characters: int) -> None:
        """Makes sure that a text of at most so many characters may be made."""
        if characters > 100 * LONGEST:
            raise ValueError("the text is too long")
        self.spend(characters // 1000)


def limited_range(*arguments: int) -> range:
    """A range that is not too long."""
    result = range(*arguments)
    if len(result) > LONGEST:
        raise ValueError("the range is too long")
    return result


def _length(value: Any) -> int:
    """About how long the text of a value is."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return _length([*value.keys(), *value.values()])
    if isinstance(value, Iterable) and isinstance(value, Sized):
        return sum(_length(part) + 4 for part in value)
    return 20
